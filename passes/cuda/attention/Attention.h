//===- Attention.h - an attention, as kernels see it ---------- -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_ATTENTION_ATTENTION_H
#define INGOT_PASSES_CUDA_ATTENTION_ATTENTION_H

#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// The facts of `cuda.attention` on memrefs.
struct Attention {
  explicit Attention(AttentionOp op);

  /// Gives open numbers values in the code of a kernel.
  void resolve(Code &code);

  AttentionOp op;
  StridedLayout src, keys, values, dst;
  /// The layout of the mask; strides of sizes that broadcast are 0.
  std::optional<StridedLayout> mask;
  llvm::SmallVector<StridedLayout> operands;

  AttentionScheduleAttr schedule() const;
  mlir::Type element() const { return src.element; }
  Number batches() const { return src.sizes[0]; }
  Number queries() const { return src.sizes[1]; }
  int64_t heads() const { return src.sizes[2].known(); }
  /// Elements of a query, and of a value.
  int64_t depth() const { return src.sizes[3].known(); }
  int64_t width() const { return values.sizes[3].known(); }
  Number numKeys() const { return keys.sizes[1]; }
  int64_t sharedBytes() const;
  /// Returns the distance of two rows of a tile in shared memory.
  int64_t rowBytes(int64_t elements) const {
    return AttentionScheduleAttr::getRowBytes(elements, element());
  }
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_ATTENTION_ATTENTION_H
