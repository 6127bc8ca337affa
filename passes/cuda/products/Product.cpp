//===- Product.cpp - a product of matrices, as kernels see it -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/products/Product.h"

#include "passes/support/Shapes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

StridedLayout StridedLayout::of(Value value) {
  auto shaped = cast<ShapedType>(value.getType());
  StridedLayout layout;
  layout.sizes = llvm::to_vector(shaped.getShape());
  layout.element = shaped.getElementType();
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type) {
    layout.strides = computeStrides(layout.sizes);
    return layout;
  }
  LogicalResult found = type.getStridesAndOffset(layout.strides, layout.offset);
  assert(succeeded(found) && "products have strided memrefs");
  (void)found;
  return layout;
}

int64_t StridedLayout::elementBytes() const {
  return element.getIntOrFloatBitWidth() / 8;
}

int64_t StridedLayout::alignedElements(int64_t most, int64_t part) const {
  if (sizes.back() != 1 && strides.back() != 1)
    return 1;
  auto isAligned = [&](int64_t count) {
    if (part % count != 0 || ShapedType::isDynamic(offset) ||
        offset % count != 0)
      return false;
    return llvm::all_of(llvm::zip_equal(ArrayRef(sizes).drop_back(),
                                        ArrayRef(strides).drop_back()),
                        [=](auto dim) {
                          auto [size, stride] = dim;
                          return size == 1 || stride % count == 0;
                        });
  };
  while (most > 1 && !isAligned(most))
    most /= 2;
  return most;
}

int64_t StridedLayout::copyBytes(int64_t part) const {
  const int64_t bytes = elementBytes();
  return alignedElements(kAccessBytes / bytes, part) * bytes;
}

int64_t cuda::storedElements(const StridedLayout &dst,
                             ArrayRef<StridedLayout> operands, int64_t most,
                             int64_t part) {
  int64_t stored = dst.alignedElements(most, part);
  for (const StridedLayout &operand : operands)
    if (operand.sizes.back() != 1)
      stored = operand.alignedElements(stored, part);
  return stored;
}

static Value dstOf(kernel::EpilogueOpInterface op) {
  return cast<DestinationStyleOpInterface>(*op).getDpsInitOperand(0)->get();
}

Product::Product(kernel::EpilogueOpInterface op)
    : op(op), src(StridedLayout::of(op->getOperand(0))),
      weights(StridedLayout::of(op->getOperand(1))),
      dst(StridedLayout::of(dstOf(op))), isTF32(op->hasAttr("tf32")) {
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
  auto conv = dyn_cast<ConvOp>(*op);
  parts =
      conv ? int64_t(conv.getParts()) : int64_t(cast<MatMulOp>(*op).getParts());
  if (parts > 1) {
    partStride = dst.strides.front();
    dst.sizes.erase(dst.sizes.begin());
    dst.strides.erase(dst.strides.begin());
  }
  const size_t rank = dst.sizes.size();
  if (!conv) {
    numBatchDims = weights.sizes.size() > 2 ? unsigned(rank - 2) : 0;
    windows.resize(rank - 1 - numBatchDims);
    for (auto [i, window] : llvm::enumerate(windows))
      window.size = src.sizes[numBatchDims + i];
    return;
  }
  groups = int64_t(conv.getGroups());
  // The images are a dimension whose windows are one pixel.
  windows.push_back({});
  windows.front().size = src.sizes.front();
  for (size_t i = 0; i + 2 < rank; ++i) {
    WindowDim dim{conv.getTaps()[i], conv.getStrides()[i],
                  conv.getDilations()[i], conv.getPads()[i], src.sizes[i + 1]};
    const int64_t last = (dst.sizes[i + 1] - 1) * dim.stride - dim.pad +
                         (dim.taps - 1) * dim.dilation;
    dim.isPadded = dim.pad > 0 || last >= dim.size;
    windows.push_back(dim);
  }
}

ScheduleAttr Product::schedule() const {
  return op->getAttrOfType<ScheduleAttr>("schedule");
}

ArrayRef<int64_t> Product::rowSizes() const {
  return ArrayRef(dst.sizes).drop_front(numBatchDims).drop_back();
}

int64_t Product::batches() const {
  return groups *
         support::productOf(ArrayRef(dst.sizes).take_front(numBatchDims));
}

int64_t Product::rows() const { return support::productOf(rowSizes()); }

int64_t Product::taps() const {
  int64_t taps = 1;
  for (const WindowDim &window : windows)
    taps *= window.taps;
  return taps;
}

int64_t Product::blocks(ScheduleAttr schedule) const {
  return int64_t(llvm::divideCeil(rows(), schedule.getRows()) *
                 llvm::divideCeil(columns(), schedule.getColumns())) *
         batches() * parts;
}

int64_t Product::steps(ScheduleAttr schedule) const {
  return int64_t(
      llvm::divideCeil(depth(), schedule.getDepth() / src.elementBytes()));
}

int64_t Product::stepsOfPart(ScheduleAttr schedule) const {
  return int64_t(llvm::divideCeil(steps(schedule), parts));
}
