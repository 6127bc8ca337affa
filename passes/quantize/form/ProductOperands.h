//===- ProductOperands.h - operands of integer products ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_PRODUCTOPERANDS_H
#define INGOT_PASSES_QUANTIZE_FORM_PRODUCTOPERANDS_H

#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/ExcessWeights.h"

namespace ingot::quantize {

/// Scales and zero points of an nn.dequantize: one for each output, or one for
/// all outputs.
struct Parameters {
  std::vector<double> scales, zeros;

  static double at(const std::vector<double> &all, int64_t output) {
    return all[all.size() == 1 ? 0 : output];
  }
  double scaleOf(int64_t output) const { return at(scales, output); }
  double zeroOf(int64_t output) const { return at(zeros, output); }
};

/// Constant integer weights with their zero point subtracted. Dimension `dim`
/// counts outputs. Weights of a matrix product may have a matrix for each of
/// several batches. Each output of each batch counts then.
struct Weights {
  mlir::RankedTensorType type;
  int64_t dim, batches = 1;
  std::vector<double> bytes;
  Parameters parameters;
  /// Offset that was subtracted from the weights of each output so that they
  /// fit in signed bytes. The vector is empty if no output needed an offset.
  std::vector<double> offsets;
  /// Amounts by which few weights exceed signed bytes.
  support::Remainders remainders;

  int64_t outputs() const { return batches * type.getDimSize(dim); }
  template <typename Visit> void forEachRun(Visit visit) const {
    const auto inner =
        size_t(support::productOf(type.getShape().drop_front(dim + 1)));
    const size_t each = size_t(type.getDimSize(dim)),
                 size = bytes.size() / std::max<size_t>(size_t(batches), 1);
    for (size_t batch = 0; batch < size_t(batches); ++batch)
      quantize::forEachRun(size, each, inner,
                           [&](size_t output, size_t begin, size_t end) {
                             visit(int64_t(batch * each + output),
                                   batch * size + begin, batch * size + end);
                           });
  }
};

/// A product of f32: data times weights plus an optional bias. Dimension
/// `outputs` of `w` counts the outputs of one of `groups` groups.
struct FloatProduct {
  mlir::Value x, w;
  int64_t outputs;
  mlir::Value bias;
  int64_t groups = 1;
};

/// Reads the integer weights of an f32 product from `value`, and subtracts
/// their zero points. Scales may vary along dimension `dim`. Returns nullopt
/// and sets `reason` if `value` has another form, or more than `mostBits` bits.
std::optional<Weights> readWeights(mlir::Operation *product, mlir::Value value,
                                   int64_t dim, llvm::StringRef &reason,
                                   unsigned mostBits = 8);

/// Bounds weights of which few exceed signed bytes, and sets their remainders.
/// Returns false if there are too many, or if `product` takes no remainders.
bool splitExcess(mlir::Operation *product, Weights &weights);

/// Makes weights fit in signed bytes. Subtracts an offset from the weights of
/// each output that do not fit. Returns false if the weights of an output have
/// too large a range.
bool makeSignedBytes(Weights &weights);

/// Returns true if a weight is 1 or -1. Weights that are all signs are
/// multiplied as bits.
inline bool isSign(double weight) { return weight == 1 || weight == -1; }

/// Returns the elements of a constant bias of `count` outputs, or zeros if
/// there is no bias. Dequantizes an integer bias that has a dequantize. Returns
/// nullopt and sets `reason` if the bias is computed at run time.
std::optional<std::vector<double>> readBias(mlir::Value bias, int64_t count,
                                            llvm::StringRef &reason);

/// Creates a constant of type `element` that varies along dimension `dim`, and
/// broadcasts to `type`. If there are values for each batch, `dim` is the last
/// dimension, and the batches are the dimensions before the rows.
mlir::Value alongOutputs(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::RankedTensorType type, int64_t dim,
                         mlir::Type element, llvm::ArrayRef<double> values);

/// Erases unused dequantize ops, so that their float weights are not folded
/// later.
void eraseUnread(mlir::Operation *root);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FORM_PRODUCTOPERANDS_H
