//===- Attention.cpp - an attention, as kernels see it --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/attention/Attention.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

Attention::Attention(AttentionOp op)
    : op(op), src(StridedLayout::of(op.getSrc())),
      keys(StridedLayout::of(op.getKeys())),
      values(StridedLayout::of(op.getValues())),
      dst(StridedLayout::of(op.getDst())) {
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
  if (!op.getMask())
    return;
  mask = StridedLayout::of(op.getMask());
  for (auto [size, stride] : llvm::zip_equal(mask->sizes, mask->strides))
    stride = size.is(1) ? Number(0) : stride;
}

void Attention::resolve(Code &code) {
  src.resolve(code, op.getSrc());
  keys.resolve(code, op.getKeys());
  values.resolve(code, op.getValues());
  dst.resolve(code, op.getDst());
  if (mask)
    mask->resolve(code, op.getMask());
  cuda::resolve(code, operands, op.getEpilogueOperands());
}

AttentionScheduleAttr Attention::schedule() const {
  return AttentionOp(op).getScheduleAttr();
}

int64_t Attention::sharedBytes() const {
  return schedule().getSharedBytes(depth(), width(), element());
}
