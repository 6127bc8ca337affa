//===- DequantizedWeights.h - chains of operations on weights ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the value of a chain of operations that exporters write to
// dequantize constant integers: `(integers - zero_point) scale`, with reshapes
// and transposes at any place.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_GRAPH_RECOGNIZE_DEQUANTIZEDWEIGHTS_H
#define INGOT_PASSES_GRAPH_RECOGNIZE_DEQUANTIZEDWEIGHTS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

#include <array>
#include <optional>
#include <vector>

namespace ingot::graph {

/// A part of a dimension. The elements of a dimension are those of its parts in
/// row-major order. A stride says how far the scale or the zero point of the
/// next index is. It is zero if all indices share one.
struct Part {
  int64_t size;
  std::array<int64_t, 2> strides;
};

/// Numbers that equal `(integers - zero) scale`.
class DequantizedWeights {
public:
  /// Returns the weights that the result of `op` has, if it starts a chain: a
  /// cast of a constant, or a dequantize of one.
  static std::optional<DequantizedWeights> start(mlir::Operation *op);
  /// Returns the weights behind `op`, whose operand `index` has these weights
  /// and whose other operands are constants. Returns nullopt if `op` ends the
  /// chain.
  std::optional<DequantizedWeights> behind(mlir::Operation *op,
                                           unsigned index) const;
  /// Makes an nn.dequantize or nn.dequantize_blocks that has the value of `op`.
  /// Returns null if neither expresses the parameters.
  mlir::Value make(mlir::OpBuilder &builder, mlir::Operation *op) const;

  int64_t numElements() const;
  /// Returns true if the numbers are those of the constant integers.
  bool areIntegers() const;
  /// Returns true if no operation follows the dequantize that starts the chain.
  bool isDequantize() const { return isQuantized && !isChanged; }

private:
  enum Parameter { scale = 0, zero = 1 };
  /// Numbers with one stride for each part.
  struct Numbers {
    std::vector<double> values;
    llvm::SmallVector<int64_t> strides;
  };
  /// Where parameters vary: nowhere, or in all other parts of one dimension, or
  /// in all parts but the last `block` elements of a dimension.
  struct Form {
    enum Kind { whole, axis, blocks } kind;
    int64_t dim, block;
  };
  using Combine = llvm::function_ref<double(double, double)>;

  static std::optional<DequantizedWeights>
  startAtDequantize(mlir::Operation *op);
  void setShape(llvm::ArrayRef<int64_t> shape);
  bool reshape(llvm::ArrayRef<int64_t> shape);
  std::optional<Numbers> readNumbers(mlir::Value value) const;
  bool combine(Parameter which, const Numbers &numbers, Combine function);
  bool addToZeros(const Numbers &numbers, double sign);
  bool apply(mlir::Operation *op, const Numbers &numbers, unsigned index);
  std::optional<Form> findForm() const;
  mlir::Value makeParameter(mlir::OpBuilder &builder, mlir::Location loc,
                            Parameter which, const Form &form,
                            mlir::Type element) const;

  /// The constant, and the reshapes and transposes behind it.
  mlir::Value integers;
  llvm::SmallVector<mlir::Operation *> moves;
  llvm::SmallVector<llvm::SmallVector<Part, 2>> dims;
  std::array<std::vector<double>, 2> parameters{std::vector<double>{1},
                                                std::vector<double>{0}};
  bool isQuantized = false, isChanged = false;
};

} // namespace ingot::graph

#endif // INGOT_PASSES_GRAPH_RECOGNIZE_DEQUANTIZEDWEIGHTS_H
