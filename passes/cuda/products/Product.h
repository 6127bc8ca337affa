//===- Product.h - a product of matrices, as kernels see it -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PRODUCTS_PRODUCT_H
#define INGOT_PASSES_CUDA_PRODUCTS_PRODUCT_H

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/kernels/Code.h"
#include "passes/kernel/Matrices.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace ingot::cuda {

/// The layout of a memref, or of a tensor in a buffer of its own. Sizes and
/// strides may be open.
struct StridedLayout {
  llvm::SmallVector<Number> sizes, strides;
  /// Offset of the first element, in elements. Dynamic if only a run knows it.
  int64_t offset = 0;
  mlir::Type element;

  static StridedLayout of(mlir::Value value);
  /// Returns the layout of a matrix whose rows are `stride` elements apart.
  static StridedLayout ofMatrix(int64_t rows, int64_t columns, int64_t stride,
                                mlir::Type element);
  /// Gives the open numbers of the memref values in the code of a kernel.
  void resolve(Code &code, mlir::Value memref);
  int64_t elementBytes() const;
  /// Returns the largest number of neighboring elements, a power of two and at
  /// most `most`, that lie in one aligned piece of memory. Pieces start at
  /// multiples of the number along the last dimension, whose contiguous parts
  /// have `part` elements.
  int64_t alignedElements(int64_t most, int64_t part) const;
  /// Returns the bytes of the widest copy of such elements.
  int64_t copyBytes(int64_t part) const;
};

/// Gives the open numbers of each memref values in the code of a kernel.
void resolve(Code &code, llvm::MutableArrayRef<StridedLayout> layouts,
             mlir::ValueRange memrefs);

/// Returns the number of neighboring elements, at most `most`, that a thread of
/// an epilogue loads, computes and stores together. A row of `dst` has `part`
/// of them.
int64_t storedElements(const StridedLayout &dst,
                       llvm::ArrayRef<StridedLayout> operands, int64_t most,
                       int64_t part);

/// Returns the product of sizes. Open ones count as usual ones; the first of
/// several is a batch.
int64_t usualProduct(llvm::ArrayRef<Number> sizes);

/// A dimension of windows that move over src.
struct WindowDim {
  int64_t taps = 1, stride = 1, dilation = 1, pad = 0;
  /// Pixels of src along the dimension.
  Number size = 1;
  /// True if a window may leave src.
  bool isPadded = false;
};

/// Returns the windows of a convolution along each spatial dimension of src.
/// Src and dst have channels last.
llvm::SmallVector<WindowDim>
windowsOf(llvm::ArrayRef<Number> src, llvm::ArrayRef<Number> dst,
          llvm::ArrayRef<int64_t> taps, llvm::ArrayRef<int64_t> strides,
          llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> pads);

/// The facts of `cuda.conv` and `cuda.matmul`. Each is a product of
/// a matrix of rows with the transposed weights. A row of `cuda.conv` has the
/// elements of a window.
struct Product {
  explicit Product(kernel::EpilogueOpInterface op);
  /// Makes a product of matrices that no op computes yet, for estimates.
  Product(int64_t rows, int64_t columns, int64_t depth, mlir::Type element,
          bool isTF32);

  /// Gives open numbers values in the code of a kernel.
  void resolve(Code &code);

  kernel::EpilogueOpInterface op;
  /// Dst is that of one part.
  StridedLayout src, weights, dst;
  llvm::SmallVector<StridedLayout> operands;
  /// Dimensions of dst, the first ones, that are batches: each has weights of
  /// its own. Then come the dimensions of rows, and the columns.
  unsigned numBatchDims = 0;
  /// Groups of channels, which are batches, too. Several groups imply that
  /// there are no dimensions of batches.
  int64_t groups = 1;
  /// Parts of the depth, and the distance of their results in elements.
  int64_t parts = 1, partStride = 0;
  /// True if factors of f32 are rounded to tf32.
  bool isTF32;
  /// For each dimension of rows: the window that moves along it.
  llvm::SmallVector<WindowDim> windows;

  /// Returns true if only a run knows some size.
  bool hasOpenSizes() const;
  ScheduleAttr schedule() const;
  llvm::ArrayRef<Number> rowSizes() const;
  /// Sizes whose product is the number of batches.
  llvm::SmallVector<Number> batchSizes() const;
  /// The number of batches, and of rows and columns of each; of usual ones if
  /// they are open.
  int64_t usualBatches() const;
  int64_t usualRows() const;
  int64_t usualColumns() const;
  /// Columns of the result, and channels of src, of one batch or group. They
  /// are known for a convolution.
  Number columns() const { return ofGroup(dst.sizes.back()); }
  Number channels() const { return ofGroup(src.sizes.back()); }
  int64_t taps() const;
  /// Returns the blocks of the kernel with the schedule, for usual sizes if
  /// some are open.
  int64_t blocks(ScheduleAttr schedule) const;
  /// Returns the steps of a block along its part of the depth, which is a usual
  /// one if it is open. The last part may have fewer steps.
  int64_t stepsOfPart(ScheduleAttr schedule) const;
  /// Returns the steps along the whole depth.
  int64_t steps(ScheduleAttr schedule) const;
  /// Returns the elements of a row in a step.
  int64_t stepElements(ScheduleAttr schedule) const {
    return schedule.getDepth() / src.elementBytes();
  }
  /// Elements of a row.
  Number depth() const {
    return taps() == 1 ? channels() : Number(taps() * channels().known());
  }
  /// True if matrix units multiply the factors.
  bool usesMatrixUnits() const { return !src.element.isF32() || isTF32; }

private:
  Number ofGroup(Number channels) const {
    return groups == 1 ? channels : Number(channels.known() / groups);
  }
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_PRODUCTS_PRODUCT_H
