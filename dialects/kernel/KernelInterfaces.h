//===- KernelInterfaces.h - what ops that are kernels tell ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_KERNELINTERFACES_H
#define INGOT_DIALECTS_KERNEL_KERNELINTERFACES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

namespace ingot::kernel {

/// One factor of an amount of work: a number, or a size that a run may decide.
struct Factor {
  Factor(int64_t number) : number(number) {}
  /// The size of dimension `dim` of a tensor or memref.
  Factor(mlir::Value value, int64_t dim) : value(value), dim(dim) {}

  int64_t number = 1;
  mlir::Value value;
  int64_t dim = 0;
};

/// The product of its factors.
using Work = llvm::SmallVector<Factor, 8>;

/// The number of elements of a tensor or memref without its last `drop`
/// dimensions, times `each`.
Work workPerElement(mlir::Value value, llvm::ArrayRef<Factor> each,
                    int64_t drop = 0);

/// Operations an element of a softmax: maximum, difference, exponential, sum
/// and quotient; of a normalization: mean, variance, scale and shift.
constexpr int64_t kSoftmaxFlops = 5, kNormFlops = 8;

/// How dimension 0 of a kernel's source and result belongs to the pictures of a
/// batch, if the kernel computes each picture by itself.
struct PictureSplit {
  enum Kind {
    /// Pictures depend on each other, or on their number.
    none,
    /// It may count pictures.
    pictures,
    /// It counts pictures: the kernel moves windows over each of them.
    windows,
    /// It may count pictures, or rows of pictures.
    rows
  };
  Kind kind = none;
  /// The fewest rows of a picture whose sums do not depend on how many rows
  /// there are in all.
  int64_t leastRows = 1;
};

} // namespace ingot::kernel

#include "dialects/kernel/KernelInterfaces.h.inc"

namespace ingot::kernel {

/// The backend of ops that are no kernels of another: `linalg` and the like.
constexpr llvm::StringLiteral kLoopsBackend = "loops";

/// Returns the name of the backend that computes `op`, on memrefs.
llvm::StringRef backendOf(mlir::Operation *op);

/// Returns whether a kernel reads `constant`, or a view or a reshape of it,
/// where it lies in the weights (KernelOpInterface::readsStoredConstants).
bool mustBeStored(mlir::Value constant);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELINTERFACES_H
