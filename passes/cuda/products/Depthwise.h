//===- Depthwise.h - a depthwise convolution --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PRODUCTS_DEPTHWISE_H
#define INGOT_PASSES_CUDA_PRODUCTS_DEPTHWISE_H

#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// The facts of `cuda.depthwise_conv` on memrefs. A thread computes a block of
/// `pixels` neighbors along the last spatial dimension and `vector` channels.
struct Depthwise {
  explicit Depthwise(DepthwiseConvOp op);

  /// Gives open numbers values in the code of a kernel.
  void resolve(Code &code);

  DepthwiseConvOp op;
  StridedLayout src, weights, dst;
  llvm::SmallVector<StridedLayout> operands;
  llvm::SmallVector<WindowDim> windows;
  int64_t vector = 1, pixels = 1;
  /// Channels of dst for each channel of src.
  int64_t multiplier = 1;

  /// Neighboring channels of src that a vector is computed from.
  int64_t sources() const { return std::max<int64_t>(vector / multiplier, 1); }
  /// Pixels of dst along the last spatial dimension.
  Number width() const { return dst.sizes[dst.sizes.size() - 2]; }
  /// Returns true if only a run knows some size.
  bool isOpen() const;
  /// Returns the number of blocks of pixels and channels in each dimension of
  /// dst.
  llvm::SmallVector<Number> gridSizes() const;
  /// Returns the number of threads, and of blocks, if no size is open.
  int64_t threads() const;
  int64_t blocks() const;

private:
  /// Returns true if an access of src has the channels of a vector.
  bool isLoaded() const;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_PRODUCTS_DEPTHWISE_H
