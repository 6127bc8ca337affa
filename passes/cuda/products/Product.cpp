//===- Product.cpp - a product of matrices, as kernels see it -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/products/Product.h"

#include "passes/cuda/schedule/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

StridedLayout StridedLayout::of(Value value) {
  auto shaped = cast<ShapedType>(value.getType());
  StridedLayout layout;
  layout.element = shaped.getElementType();
  auto type = dyn_cast<MemRefType>(shaped);
  SmallVector<int64_t> strides;
  const bool isContiguous = !type || type.getLayout().isIdentity();
  if (type) {
    LogicalResult found = type.getStridesAndOffset(strides, layout.offset);
    assert(succeeded(found) && "products have strided memrefs");
    (void)found;
  } else {
    strides.assign(size_t(shaped.getRank()), ShapedType::kDynamic);
  }
  // An open stride of a contiguous buffer is a multiple of the sizes behind it.
  int64_t divisor = 1;
  bool isKnown = true;
  layout.sizes.assign(strides.size(), Number::open(1));
  layout.strides.assign(strides.size(), Number::open(1));
  for (size_t i = strides.size(); i-- > 0;) {
    if (!ShapedType::isDynamic(strides[i]))
      layout.strides[i] = strides[i];
    else if (isContiguous)
      layout.strides[i] = isKnown ? Number(divisor) : Number::open(divisor);
    isKnown &= !shaped.isDynamicDim(unsigned(i));
    if (shaped.isDynamicDim(unsigned(i)))
      continue;
    layout.sizes[i] = shaped.getDimSize(unsigned(i));
    divisor *= shaped.getDimSize(unsigned(i));
  }
  return layout;
}

StridedLayout StridedLayout::ofMatrix(int64_t rows, int64_t columns,
                                      int64_t stride, Type element) {
  StridedLayout layout;
  layout.sizes = {rows, columns};
  layout.strides = {stride, 1};
  layout.element = element;
  return layout;
}

void StridedLayout::resolve(Code &code, Value memref) {
  auto isOpen = [](Number number) { return number.isOpen(); };
  if (llvm::none_of(sizes, isOpen) && llvm::none_of(strides, isOpen))
    return;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(code.b, code.loc, memref);
  auto set = [&](Number &number, Value value) {
    if (number.isOpen())
      number = Number::open(number.knownDivisor(),
                            arith::IndexCastOp::create(
                                code.b, code.loc, code.b.getI32Type(), value));
  };
  for (size_t i = 0; i < sizes.size(); ++i) {
    set(sizes[i], metadata.getSizes()[i]);
    set(strides[i], metadata.getStrides()[i]);
  }
}

void cuda::resolve(Code &code, MutableArrayRef<StridedLayout> layouts,
                   ValueRange memrefs) {
  for (auto [layout, memref] : llvm::zip_equal(layouts, memrefs))
    layout.resolve(code, memref);
}

int64_t StridedLayout::elementBytes() const {
  return element.getIntOrFloatBitWidth() / 8;
}

int64_t StridedLayout::alignedElements(int64_t most, int64_t part) const {
  if (!sizes.back().is(1) && !strides.back().is(1))
    return 1;
  auto isAligned = [&](int64_t count) {
    if (part % count != 0 || ShapedType::isDynamic(offset) ||
        offset % count != 0)
      return false;
    return llvm::all_of(llvm::zip_equal(ArrayRef(sizes).drop_back(),
                                        ArrayRef(strides).drop_back()),
                        [=](auto dim) {
                          auto [size, stride] = dim;
                          return size.is(1) || stride.isMultipleOf(count);
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
    if (!operand.sizes.back().is(1))
      stored = operand.alignedElements(stored, part);
  return stored;
}

SmallVector<WindowDim>
cuda::windowsOf(ArrayRef<Number> src, ArrayRef<Number> dst,
                ArrayRef<int64_t> taps, ArrayRef<int64_t> strides,
                ArrayRef<int64_t> dilations, ArrayRef<int64_t> pads) {
  SmallVector<WindowDim> windows;
  for (size_t i = 0; i < taps.size(); ++i) {
    WindowDim dim{taps[i], strides[i], dilations[i], pads[i], src[i + 1]};
    if (dim.size.isOpen() || dst[i + 1].isOpen()) {
      dim.isPadded = dim.pad > 0 || pads[taps.size() + i] > 0;
    } else {
      const int64_t last = (dst[i + 1].known() - 1) * dim.stride - dim.pad +
                           (dim.taps - 1) * dim.dilation;
      dim.isPadded = dim.pad > 0 || last >= dim.size.known();
    }
    windows.push_back(dim);
  }
  return windows;
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
    partStride = dst.strides.front().known();
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
  llvm::append_range(windows, windowsOf(src.sizes, dst.sizes, conv.getTaps(),
                                        conv.getStrides(), conv.getDilations(),
                                        conv.getPads()));
}

Product::Product(int64_t rows, int64_t columns, int64_t depth, Type element,
                 bool isTF32)
    : src(StridedLayout::ofMatrix(rows, depth, depth, element)),
      dst(StridedLayout::ofMatrix(rows, columns, columns,
                                  Float32Type::get(element.getContext()))),
      isTF32(isTF32), windows(1) {
  const auto padded = int64_t(llvm::alignTo(
      uint64_t(depth), uint64_t(kAccessBytes / src.elementBytes())));
  weights = StridedLayout::ofMatrix(columns, depth, padded, element);
  windows.front().size = rows;
}

void Product::resolve(Code &code) {
  src.resolve(code, op->getOperand(0));
  weights.resolve(code, op->getOperand(1));
  dst.resolve(code, dstOf(op));
  cuda::resolve(code, operands, op.getEpilogueOperands());
  for (auto [i, window] : llvm::enumerate(windows))
    window.size = src.sizes[numBatchDims + i];
}

bool Product::hasOpenSizes() const {
  return llvm::any_of(
      ArrayRef{&src, &weights, &dst}, [](const StridedLayout *layout) {
        return llvm::any_of(layout->sizes,
                            [](Number size) { return size.isOpen(); });
      });
}

ScheduleAttr Product::schedule() const {
  return op->getAttrOfType<ScheduleAttr>("schedule");
}

ArrayRef<Number> Product::rowSizes() const {
  return ArrayRef(dst.sizes).drop_front(numBatchDims).drop_back();
}

SmallVector<Number> Product::batchSizes() const {
  SmallVector<Number> sizes{groups};
  llvm::append_range(sizes, ArrayRef(dst.sizes).take_front(numBatchDims));
  return sizes;
}

int64_t cuda::usualProduct(ArrayRef<Number> sizes) {
  int64_t product = 1;
  for (auto [i, size] : llvm::enumerate(sizes))
    product *=
        size.knownOr(i == 0 && sizes.size() > 1 ? kUsual.batch : kUsual.size);
  return product;
}

int64_t Product::usualBatches() const {
  return groups * usualProduct(ArrayRef(dst.sizes).take_front(numBatchDims));
}

int64_t Product::usualRows() const { return usualProduct(rowSizes()); }

int64_t Product::usualColumns() const { return columns().knownOr(kUsual.size); }

int64_t Product::taps() const {
  int64_t taps = 1;
  for (const WindowDim &window : windows)
    taps *= window.taps;
  return taps;
}

int64_t Product::blocks(ScheduleAttr schedule) const {
  return int64_t(llvm::divideCeil(usualRows(), schedule.getRows()) *
                 llvm::divideCeil(usualColumns(), schedule.getColumns())) *
         usualBatches() * parts;
}

int64_t Product::steps(ScheduleAttr schedule) const {
  return int64_t(
      llvm::divideCeil(depth().knownOr(kUsual.size), stepElements(schedule)));
}

int64_t Product::stepsOfPart(ScheduleAttr schedule) const {
  return int64_t(llvm::divideCeil(steps(schedule), parts));
}
