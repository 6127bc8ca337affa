//===- ByteFunction.h - functions of few integers ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FORM_BYTEFUNCTION_H
#define INGOT_PASSES_QUANTIZE_FORM_BYTEFUNCTION_H

#include "passes/quantize/QuantizationParameters.h"

#include "llvm/ADT/SetVector.h"

#include <optional>
#include <vector>

namespace ingot::quantize {

/// An elementwise function of f32 whose arguments are integers of known ranges,
/// for example bytes without their zero point. The function may have constants
/// for each channel. It has so few inputs that all of them can be tried.
class ByteFunction {
public:
  /// Walks from `result` up to the integers that it depends on. Returns nullopt
  /// and sets `reason` if there are other arguments, or too many inputs.
  static std::optional<ByteFunction> find(mlir::Value result,
                                          llvm::StringRef &reason);

  bool isSource(mlir::Value value) const { return sources.contains(value); }
  /// Returns true if `value` has the shape of the result.
  bool isWhole(mlir::Value value) const { return value.getType() == type; }

  /// Returns the ops between the sources and the result, the last op first.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops.getArrayRef(); }
  bool hasOneSource() const { return sources.size() == 1; }
  mlir::Value getSource() const { return sources.front(); }
  /// Returns true if no other op reads the sources.
  bool isOnlyReader() const;
  /// Returns the locations of all ops.
  mlir::Location getLoc() const;

  /// Number of channels that have constants of their own. It is 1 if no
  /// constant differs between channels.
  size_t getChannels() const { return channels; }
  /// Number of inputs of one channel.
  size_t getInputs() const { return inputs; }

  /// Returns the elements of a constant: one, or one for each channel.
  std::vector<double> readConstant(mlir::Value constant) const;
  /// Creates a constant of one element, or of one for each channel.
  mlir::Value makeConstant(mlir::OpBuilder &builder, mlir::Location loc,
                           llvm::ArrayRef<double> numbers) const;

  /// Computes `value`, an elementwise function of the same sources, for all
  /// inputs of the first channel, then of the second one, and so on. Each op
  /// rounds to f32, as in a run. Returns nullopt if an op is not known.
  std::optional<std::vector<float>> evaluate(mlir::Value value) const;

private:
  /// The integers that a source takes.
  struct Range {
    int64_t least;
    size_t count;
  };

  bool add(mlir::Value value, int depth, llvm::StringRef &reason);
  bool addConstant(mlir::Value constant);
  bool hasInnerUsersOnly() const;

  mlir::RankedTensorType type;
  llvm::SetVector<mlir::Value> sources;
  llvm::SmallVector<Range> ranges;
  llvm::SetVector<mlir::Operation *> ops;
  /// Dimension of the channels, if constants differ between them.
  std::optional<int64_t> dim;
  size_t channels = 1, inputs = 1;
};

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FORM_BYTEFUNCTION_H
