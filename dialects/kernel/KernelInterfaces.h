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

/// A factor of an amount of work: a constant, or a size that may be dynamic.
struct Factor {
  Factor(int64_t number) : number(number) {}
  /// Makes a factor from the size of dimension `dim` of a tensor or memref.
  Factor(mlir::Value value, int64_t dim) : value(value), dim(dim) {}

  int64_t number = 1;
  mlir::Value value;
  int64_t dim = 0;
};

/// A product of factors.
using Work = llvm::SmallVector<Factor, 8>;

/// Returns `each` times the number of elements of a tensor or memref. Ignores
/// its last `drop` dimensions.
Work workPerElement(mlir::Value value, llvm::ArrayRef<Factor> each,
                    int64_t drop = 0);

/// Operations per element. Softmax: maximum, difference, exponential, sum and
/// quotient. Normalization: mean, variance, scale and shift.
constexpr int64_t kSoftmaxFlops = 5, kNormFlops = 8;

/// Class of a kernel, which decides whether its result may be stored with 16
/// bits. A product has two factors, its first operands.
enum class KernelClass { product, norm, softmax, reduction, other };

/// Relation between dimension 0 of a kernel's source and result and the images
/// of a batch, for kernels that compute each image separately.
struct ImageSplit {
  enum Kind {
    /// The results of images depend on each other, or on the number of images.
    none,
    /// Dimension 0 may be the number of images.
    images,
    /// Dimension 0 is the number of images, because the kernel moves windows
    /// over each image.
    windows,
    /// Dimension 0 may be the number of images, or the number of rows of all
    /// images.
    rows
  };
  Kind kind = none;
  /// Smallest number of rows per image with which sums do not depend on the
  /// total number of rows.
  int64_t leastRows = 1;
};

} // namespace ingot::kernel

#include "dialects/kernel/KernelInterfaces.h.inc"

namespace ingot::kernel {

/// Backend of ops that are not kernels of another backend: `linalg` and similar
/// dialects.
constexpr llvm::StringLiteral kLoopsBackend = "loops";

/// Returns the name of the backend that computes `op`. `op` works on memrefs.
llvm::StringRef backendOf(mlir::Operation *op);

/// Returns true if a kernel reads `constant` directly from the weights,
/// possibly through views and reshapes
/// (KernelOpInterface::readsStoredConstants).
bool mustBeStored(mlir::Value constant);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_KERNELINTERFACES_H
