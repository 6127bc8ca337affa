//===- OpenWords.h - sizes that a launch passes to a kernel -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_OPENWORDS_H
#define INGOT_PASSES_CUDA_KERNELS_OPENWORDS_H

#include "mlir/IR/BuiltinTypes.h"

namespace ingot::cuda {

/// The dimensions of a memref whose sizes and strides only a run knows. Behind
/// the addresses of all memrefs, a launch passes the sizes and then the strides
/// of each. The strides of a contiguous memref follow from its sizes.
struct OpenWords {
  llvm::SmallVector<unsigned> sizes, strides;

  explicit OpenWords(mlir::MemRefType type);
  size_t count() const { return sizes.size() + strides.size(); }
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_OPENWORDS_H
