//===- DepthwiseToNVVM.cpp - cuda-depthwise-to-nvvm -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/Depthwise.h"
#include "passes/cuda/products/StoreRows.h"
#include "passes/cuda/schedule/Grids.h"
#include "passes/cuda/schedule/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_DEPTHWISETONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// The most pixels of a thread. Neighboring windows share elements of src.
static constexpr int64_t kMaxPixels = 4;

namespace {

/// Writes the kernel of one convolution. All taps are unrolled.
class DepthwiseEmitter {
public:
  DepthwiseEmitter(OpBuilder &b, const Depthwise &facts)
      : code(b, facts.op->getLoc()), facts(facts),
        numLeading(facts.windows.size() - 1), last(facts.windows.back()) {}

  void emit();

private:
  /// Returns true if the last block of a row has fewer pixels.
  bool isCut() const {
    return facts.pixels > 1 && facts.width().known() % facts.pixels != 0;
  }
  SmallVector<Value> load(Value address, const StridedLayout &layout,
                          Value offset, Value isInside, int64_t count);
  void addRow(ArrayRef<int64_t> taps);
  void addTaps(SmallVector<int64_t> &taps);
  void store();

  Code code;
  const Depthwise &facts;
  /// Spatial dimensions before the last one.
  const size_t numLeading;
  const WindowDim &last;
  Value src, weights;
  /// The image, the first pixel of dst in each dimension, and the first
  /// channel.
  SmallVector<Value> indices;
  /// First pixel of the window in each spatial dimension of src.
  SmallVector<Value> starts;
  /// For each pixel, the sums of the channels.
  SmallVector<SmallVector<Value>> sums;
};

struct DepthwiseToNVVMPass
    : ingot::impl::DepthwiseToNVVMBase<DepthwiseToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

Depthwise::Depthwise(DepthwiseConvOp op)
    : op(op), src(StridedLayout::of(op.getSrc())),
      weights(StridedLayout::of(op.getWeights())),
      dst(StridedLayout::of(op.getDst())),
      windows(windowsOf(src.sizes, dst.sizes, op.getTaps(), op.getStrides(),
                        op.getDilations(), op.getPads())) {
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
  const int64_t channels = dst.sizes.back().known();
  const int64_t most =
      kAccessBytes / std::max(src.elementBytes(), dst.elementBytes());
  multiplier = channels / src.sizes.back().known();
  vector = storedElements(dst, operands,
                          weights.alignedElements(most, channels), channels);
  while (!isLoaded())
    vector /= 2;
  while (!isOpen() && pixels < kMaxPixels && width().known() >= 2 * pixels &&
         threads() >= 2 * kWantedThreads)
    pixels *= 2;
}

bool Depthwise::isLoaded() const {
  if (multiplier % vector == 0)
    return true;
  return vector % multiplier == 0 &&
         src.alignedElements(sources(), src.sizes.back().known()) == sources();
}

bool Depthwise::isOpen() const {
  return llvm::any_of(dst.sizes, [](Number size) { return size.isOpen(); });
}

void Depthwise::resolve(Code &code) {
  src.resolve(code, op.getSrc());
  dst.resolve(code, op.getDst());
  cuda::resolve(code, operands, op.getEpilogueOperands());
  for (auto [i, window] : llvm::enumerate(windows))
    window.size = src.sizes[i + 1];
}

SmallVector<Number> Depthwise::gridSizes() const {
  SmallVector<Number> sizes(dst.sizes);
  sizes.back() = sizes.back().known() / vector;
  Number &columns = sizes[sizes.size() - 2];
  if (pixels > 1)
    columns = int64_t(llvm::divideCeil(columns.known(), pixels));
  return sizes;
}

int64_t Depthwise::threads() const { return usualProduct(gridSizes()); }

int64_t Depthwise::blocks() const {
  return int64_t(llvm::divideCeil(threads(), kGridThreads));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Loads `count` channels as f32. Outside, which is not if `isInside` is null,
/// they are 0.
SmallVector<Value> DepthwiseEmitter::load(Value address,
                                          const StridedLayout &layout,
                                          Value offset, Value isInside,
                                          int64_t count) {
  OpBuilder &b = code.b;
  // An address from outside is not valid.
  if (isInside)
    offset = code.select(isInside, offset, code.number(0));
  Value from = code.shift(address, layout.element, offset);
  const int64_t bytes = layout.elementBytes();
  Type type = layout.element;
  if (count > 1)
    type = VectorType::get(count, type);
  Value loaded = code.load(from, type, count * bytes);
  if (isInside)
    loaded = code.select(
        isInside, loaded,
        arith::ConstantOp::create(b, code.loc, b.getZeroAttr(type)));
  SmallVector<Value> elements{loaded};
  if (count > 1) {
    elements.clear();
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(code.extract(loaded, i));
  }
  if (!layout.element.isF32())
    for (Value &element : elements)
      element = arith::ExtFOp::create(b, code.loc, b.getF32Type(), element);
  return elements;
}

/// Adds the products of a row of taps. `taps` are the taps of the dimensions
/// before the last one.
void DepthwiseEmitter::addRow(ArrayRef<int64_t> taps) {
  ArrayRef<Number> strides = facts.src.strides,
                   weightStrides = facts.weights.strides;
  Value isRow;
  Value channel = indices.back();
  Value rowOffset = code.add(
      code.multiply(indices.front(), strides.front()),
      code.multiply(code.divide(channel, facts.multiplier), strides.back()));
  int64_t weightOffset = 0;
  for (size_t i = 0; i < numLeading; ++i) {
    const WindowDim &window = facts.windows[i];
    Value pixel = code.add(starts[i], taps[i] * window.dilation);
    if (window.isPadded)
      isRow = code.both(isRow, code.isWithin(pixel, window.size));
    rowOffset = code.add(rowOffset, code.multiply(pixel, strides[i + 1]));
    weightOffset += taps[i] * weightStrides[i].known();
  }
  const bool mayLeave = last.isPadded || isCut();
  const Number pixelStride = strides[strides.size() - 2];
  // The elements that are loaded, by their distance from the first pixel.
  llvm::DenseMap<int64_t, SmallVector<Value>> loaded;
  for (int64_t tap = 0; tap < last.taps; ++tap) {
    Value place = code.add(
        code.multiply(channel, weightStrides.back()),
        weightOffset + tap * weightStrides[weightStrides.size() - 2].known());
    SmallVector<Value> factors =
        load(weights, facts.weights, place, /*isInside=*/Value(), facts.vector);
    for (int64_t i = 0; i < facts.pixels; ++i) {
      const int64_t distance = i * last.stride + tap * last.dilation;
      SmallVector<Value> &elements = loaded[distance];
      if (elements.empty()) {
        Value pixel = code.add(starts.back(), distance);
        Value isInside = isRow;
        if (mayLeave)
          isInside = code.both(isInside, code.isWithin(pixel, last.size));
        elements = load(src, facts.src,
                        code.add(rowOffset, code.multiply(pixel, pixelStride)),
                        isInside, facts.sources());
      }
      for (auto [c, sum] : llvm::enumerate(sums[size_t(i)]))
        sum = LLVM::FMAOp::create(
            code.b, code.loc,
            elements[c * elements.size() / sums[size_t(i)].size()], factors[c],
            sum);
    }
  }
}

/// Adds all rows of taps, in order. `taps` are those of the first dimensions.
void DepthwiseEmitter::addTaps(SmallVector<int64_t> &taps) {
  if (taps.size() == numLeading)
    return addRow(taps);
  for (int64_t tap = 0; tap < facts.windows[taps.size()].taps; ++tap) {
    taps.push_back(tap);
    addTaps(taps);
    taps.pop_back();
  }
}

/// Runs the epilogue on the sums and stores the results.
void DepthwiseEmitter::store() {
  const EpilogueArrays arrays(code, facts.op, facts.operands, facts.dst);
  Value first = indices[indices.size() - 2];
  for (auto [i, own] : llvm::enumerate(sums)) {
    OpBuilder::InsertionGuard guard(code.b);
    Value pixel = code.add(first, int64_t(i));
    if (i > 0 && isCut()) {
      auto branch = scf::IfOp::create(code.b, code.loc,
                                      code.isWithin(pixel, facts.width()),
                                      /*withElseRegion=*/false);
      code.b.setInsertionPoint(branch.thenYield());
    }
    SmallVector<Value> at(indices);
    at[at.size() - 2] = pixel;
    storeThroughEpilogue(code, arrays, at, own);
  }
}

void DepthwiseEmitter::emit() {
  DepthwiseConvOp op = facts.op;
  Value number =
      code.add(code.multiply(code.block(), kGridThreads), code.thread());
  const SmallVector<Number> sizes = facts.gridSizes();
  const Number threads = code.product(sizes);
  if (threads.isOpen() || threads.known() % kGridThreads != 0) {
    auto branch =
        scf::IfOp::create(code.b, code.loc, code.isWithin(number, threads),
                          /*withElseRegion=*/false);
    code.b.setInsertionPoint(branch.thenYield());
  }
  indices = code.delinearize(number, sizes);
  indices.back() = code.multiply(indices.back(), facts.vector);
  Value &column = indices[indices.size() - 2];
  column = code.multiply(column, facts.pixels);
  for (auto [i, window] : llvm::enumerate(facts.windows))
    starts.push_back(
        code.add(code.multiply(indices[i + 1], window.stride), -window.pad));
  src = code.addressOf(op.getSrc());
  weights = code.addressOf(op.getWeights());
  sums.assign(size_t(facts.pixels),
              SmallVector<Value>(size_t(facts.vector), code.zero()));
  SmallVector<int64_t> taps;
  addTaps(taps);
  store();
}

void DepthwiseToNVVMPass::runOnOperation() {
  emitKernels(getOperation(), llvm::IsaPred<DepthwiseConvOp>,
              [](OpBuilder &b, kernel::EpilogueOpInterface op) {
                Depthwise facts(cast<DepthwiseConvOp>(*op));
                Code code(b, op.getLoc());
                facts.resolve(code);
                DepthwiseEmitter(b, facts).emit();
              });
}
