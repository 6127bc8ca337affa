//===- ProductOperands.h - what products of integers are of -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_PRODUCTOPERANDS_H
#define INGOT_PASSES_QUANTIZE_FORM_PRODUCTOPERANDS_H

#include "passes/quantize/Quantized.h"
#include "passes/quantize/Weights.h"

namespace ingot::quantize {

/// Scales and zero points of an nn.dequantize, one for each output or one for
/// all.
struct Parameters {
  std::vector<double> scales, zeros;

  static double at(const std::vector<double> &all, int64_t output) {
    return all[all.size() == 1 ? 0 : output];
  }
  double scaleOf(int64_t output) const { return at(scales, output); }
  double zeroOf(int64_t output) const { return at(zeros, output); }
};

/// Constant weights: numbers of bytes less their zero point, of which dimension
/// `dim` counts outputs.
struct Weights {
  mlir::RankedTensorType type;
  int64_t dim;
  std::vector<double> bytes;
  Parameters parameters;
  /// What was taken off all weights of each output to make signed bytes of
  /// numbers that are none; empty if nothing was.
  std::vector<double> offsets;

  int64_t outputs() const { return type.getDimSize(dim); }
  template <typename Visit> void forEachRun(Visit visit) const {
    const int64_t inner =
        support::productOf(type.getShape().drop_front(dim + 1));
    quantize::forEachRun(bytes.size(), size_t(outputs()), size_t(inner), visit);
  }
};

/// The bytes of the weights `value` of a product of f32, less their zero
/// points; null with a reason. Scales may vary along dimension `dim`.
std::optional<Weights> readWeights(mlir::Operation *product, mlir::Value value,
                                   int64_t dim, llvm::StringRef &reason);

/// Makes weights signed bytes: takes off those of an output that are none what
/// is needed for that. False if some outputs' do not fit either way.
bool makeSignedBytes(Weights &weights);

/// Whether a weight is one of those that are multiplied as bits.
inline bool isSign(double weight) { return weight == 1 || weight == -1; }

/// The elements of a constant bias of `count` outputs; zeros if there is none,
/// null with a reason if a run computes it. An integer one behind its own
/// dequantize counts as what that gives.
std::optional<std::vector<double>> readBias(mlir::Value bias, int64_t count,
                                            llvm::StringRef &reason);

/// A constant of `element` that varies along dimension `dim` of results of
/// `type`.
mlir::Value alongOutputs(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type, int64_t dim,
                         mlir::Type element, llvm::ArrayRef<double> values);

/// Erases weights as floats that nobody reads any more: they are not to be
/// folded later.
void eraseUnread(mlir::Operation *root);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FORM_PRODUCTOPERANDS_H
