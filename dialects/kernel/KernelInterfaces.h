//===- KernelInterfaces.h - interfaces of kernel ops ------------*- C++ -*-===//
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

/// A factor of an amount of work: a constant, or a size that a run may decide.
struct Factor {
  Factor(int64_t number) : number(number) {}
  /// Makes a factor of the size of dimension `dim` of a tensor or memref.
  Factor(mlir::Value value, int64_t dim) : value(value), dim(dim) {}

  int64_t number = 1;
  mlir::Value value;
  int64_t dim = 0;
};

/// A product of factors.
using Work = llvm::SmallVector<Factor, 8>;

/// Returns `each` times the number of elements of a tensor or memref. Its last
/// `drop` dimensions are left out.
Work workPerElement(mlir::Value value, llvm::ArrayRef<Factor> each,
                    int64_t drop = 0);

/// Operations per element. A softmax has maximum, difference, exponential, sum
/// and quotient. A normalization has mean, variance, scale and shift.
constexpr int64_t kSoftmaxFlops = 5, kNormFlops = 8;

/// Relation of dimension 0 of a kernel's source and result to the images of a
/// batch, if the kernel computes each image separately.
struct ImageSplit {
  enum Kind {
    /// Images depend on each other, or on their number.
    none,
    /// Dimension 0 may be the number of images.
    images,
    /// Dimension 0 is the number of images: the kernel moves windows over each
    /// image.
    windows,
    /// Dimension 0 may be the number of images, or of rows of images.
    rows
  };
  Kind kind = none;
  /// Smallest number of rows per image for which sums do not depend on the
  /// total number of rows.
  int64_t leastRows = 1;
};

} // namespace ingot::kernel

#include "dialects/kernel/KernelInterfaces.h.inc"

namespace ingot::kernel {

/// Backend of ops that are no kernels of another backend: `linalg` and similar
/// dialects.
constexpr llvm::StringLiteral kLoopsBackend = "loops";

/// Returns the name of the backend that computes `op`, on memrefs.
llvm::StringRef backendOf(mlir::Operation *op);

/// Returns true if a kernel reads `constant`, or a view or reshape of it,
/// directly from the weights (KernelOpInterface::readsStoredConstants).
bool mustBeStored(mlir::Value constant);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELINTERFACES_H
