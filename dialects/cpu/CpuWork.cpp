//===- CpuWork.cpp - work of cpu ops --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"

#include "dialects/cpu/PackedWeights.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using kernel::Factor;
using kernel::Work;
using kernel::workPerElement;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

/// Number of rows below which a product's kernel sums in another order.
static constexpr int64_t kFewRows = 3;

kernel::ImageSplit cpu::imageSplitOf(Operation *op) {
  using Split = kernel::ImageSplit;
  return TypeSwitch<Operation *, Split>(op)
      .Case<ConvOp, DepthwiseConvOp, PoolOp, WinogradConvOp>(
          [](auto) { return Split{Split::windows}; })
      .Case<GroupNormOp, RowNormOp>([](auto) { return Split{Split::images}; })
      .Case([](MatMulOp product) {
        bool isShared = shapeOf(product.getWeights()).size() == 3;
        return isShared ? Split{Split::rows, kFewRows} : Split{};
      })
      .Case([](ReduceOp reduce) {
        return reduce.reducesRows() ? Split{} : Split{Split::images};
      })
      .Case([](ResampleOp resample) {
        return resample.getFirst() > 0 ? Split{Split::images} : Split{};
      })
      .Default([](Operation *) { return Split{}; });
}

kernel::KernelClass cpu::kernelClassOf(Operation *op) {
  using kernel::KernelClass;
  return TypeSwitch<Operation *, KernelClass>(op)
      .Case<ConvOp, DepthwiseConvOp, MatMulOp>(
          [](auto) { return KernelClass::product; })
      .Case<RowNormOp, GroupNormOp>([](auto) { return KernelClass::norm; })
      .Case([](SoftmaxOp) { return KernelClass::softmax; })
      .Case([](ReduceOp) { return KernelClass::reduction; })
      .Default([](Operation *) { return KernelClass::other; });
}

bool cpu::isOfF32(Operation *op) {
  return isa<AttentionOp, PackedMatMulOp, RoundBlocksOp, WinogradConvOp>(op);
}

StringRef ConvOp::getKernelKind() { return "convolution"; }

Work ConvOp::getWork() {
  // The number of taps, and the number of channels in a group.
  SmallVector<Factor> each{2};
  for (int64_t size : PackedWeights(getWeights()).outer.drop_front())
    each.push_back(size);
  if (getFormat().isSigns())
    each.push_back(getFormat().getSignChannels());
  else
    each.push_back(shapeOf(getSrc()).back() / int64_t(getGroups()));
  each.push_back(dstChannels());
  return workPerElement(getDst(), each, /*drop=*/1);
}

StringRef DepthwiseConvOp::getKernelKind() { return "depthwise convolution"; }

Work DepthwiseConvOp::getWork() {
  SmallVector<Factor> each{2};
  for (int64_t size : shapeOf(getWeights()).drop_back())
    each.push_back(size);
  each.push_back(groupSize());
  return workPerElement(getDst(), each);
}

StringRef ConvTransposeOp::getKernelKind() { return "transposed convolution"; }

Work ConvTransposeOp::getWork() {
  SmallVector<Factor> each{2};
  for (int64_t size : shapeOf(getWeights()).drop_front())
    each.push_back(size);
  return workPerElement(getSrc(), each);
}

StringRef MatMulOp::getKernelKind() { return "matmul"; }

Work MatMulOp::getWork() {
  if (getFormat().isSigns())
    return workPerElement(getDst(),
                          {getFormat().getSignChannels(), 2, dstChannels()},
                          /*drop=*/1);
  // Multiplications per row.
  if (getFormat().isBlocks())
    return workPerElement(
        getDst(),
        {2 * cast<ShapedType>(getWeights().getType()).getNumElements()},
        /*drop=*/1);
  int64_t last = shapeOf(getSrc()).size() - 1;
  return workPerElement(getDst(), {Factor(getSrc(), last), 2});
}

StringRef PackedMatMulOp::getKernelKind() { return "matmul"; }

Work PackedMatMulOp::getWork() {
  return workPerElement(getDst(), {2 * depth()});
}

StringRef AttentionOp::getKernelKind() { return "attention"; }

Work AttentionOp::getWork() {
  // Counts scores, softmax and result.
  return workPerElement(
      getSrc(),
      {Factor(getKeys(), 1), 2 * shapeOf(getKeys()).back() +
                                 kernel::kSoftmaxFlops +
                                 2 * shapeOf(getValues()).back()},
      /*drop=*/1);
}

StringRef ReduceOp::getKernelKind() { return "reduction"; }

Work ReduceOp::getWork() {
  bool isTwofold =
      getKind() == ReduceKind::sum_square || getKind() == ReduceKind::range;
  return workPerElement(getSrc(), {isTwofold ? 2 : 1});
}

StringRef SoftmaxOp::getKernelKind() { return "softmax"; }

Work SoftmaxOp::getWork() {
  return workPerElement(getSrc(), {kernel::kSoftmaxFlops});
}

StringRef PackSignsOp::getKernelKind() { return "packing"; }

Work PackSignsOp::getWork() { return workPerElement(getSrc(), {}); }

StringRef RoundBlocksOp::getKernelKind() { return "rounding"; }

Work RoundBlocksOp::getWork() {
  // For each element: magnitude, maximum, product and sum.
  return workPerElement(getSrc(), {4});
}

StringRef RowNormOp::getKernelKind() { return "normalization"; }
StringRef GroupNormOp::getKernelKind() { return "normalization"; }

Work RowNormOp::getWork() {
  return workPerElement(getSrc(), {kernel::kNormFlops});
}

Work GroupNormOp::getWork() {
  return workPerElement(getSrc(), {kernel::kNormFlops});
}

StringRef PoolOp::getKernelKind() { return "pooling"; }

Work PoolOp::getWork() {
  SmallVector<Factor> each;
  for (int64_t size : getKernel())
    each.push_back(size);
  return workPerElement(getDst(), each);
}

StringRef BandMatMulOp::getKernelKind() { return "band matmul"; }

Work BandMatMulOp::getWork() {
  return workPerElement(getDst(), {2, Factor(getWeights(), 1)});
}

StringRef ResampleOp::getKernelKind() { return "resampling"; }

Work ResampleOp::getWork() {
  return workPerElement(getDst(), {numOperations()});
}
