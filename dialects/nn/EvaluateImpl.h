//===- EvaluateImpl.h - families of evaluated ops ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that evaluate families of ops. A function returns null for ops of
// other families. All `operands` are present. The result type is static and has
// a limited size.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_EVALUATEIMPL_H
#define INGOT_DIALECTS_NN_EVALUATEIMPL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ingot::nn {

mlir::ElementsAttr
evaluateElementwise(mlir::Operation *op,
                    mlir::ArrayRef<mlir::ElementsAttr> operands,
                    mlir::RankedTensorType type);
mlir::ElementsAttr evaluateMovement(mlir::Operation *op,
                                    mlir::ArrayRef<mlir::ElementsAttr> operands,
                                    mlir::RankedTensorType type);
mlir::ElementsAttr
evaluateReduction(mlir::Operation *op,
                  mlir::ArrayRef<mlir::ElementsAttr> operands,
                  mlir::RankedTensorType type);

mlir::ElementsAttr evaluateQuantize(mlir::Operation *op,
                                    mlir::ArrayRef<mlir::ElementsAttr> operands,
                                    mlir::RankedTensorType type);

/// Returns true if the attribute is a splat.
bool isSplat(mlir::ElementsAttr attr);

/// Makes a constant of integers. Wraps each to the element type.
mlir::ElementsAttr makeIntsAttr(mlir::RankedTensorType type,
                                mlir::ArrayRef<int64_t> values);

/// Returns the row-major strides of `shape`, in elements.
llvm::SmallVector<int64_t> stridesOf(mlir::ArrayRef<int64_t> shape);

/// Returns strides for reading an operand of shape `from` at the indices of
/// shape `to`. `from` broadcasts to `to`.
llvm::SmallVector<int64_t> broadcastStrides(mlir::ArrayRef<int64_t> from,
                                            mlir::ArrayRef<int64_t> to);

/// Walks the indices of a shape in row-major order. Tracks the offset that they
/// have with `strides`.
class StridedOffset {
public:
  StridedOffset(mlir::ArrayRef<int64_t> shape, mlir::ArrayRef<int64_t> strides,
                int64_t start = 0)
      : shape(shape), strides(strides), index(shape.size(), 0), offset(start) {}

  int64_t operator*() const { return offset; }
  StridedOffset &operator++() {
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < shape[d])
        break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
    return *this;
  }

private:
  llvm::SmallVector<int64_t> shape, strides, index;
  int64_t offset;
};

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_EVALUATEIMPL_H
