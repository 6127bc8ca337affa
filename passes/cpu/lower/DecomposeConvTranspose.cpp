//===- DecomposeConvTranspose.cpp - cpu-decompose-conv-transpose ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ConvTransposePhases.h explains phases. This pass combines the phases of all
// dimensions, and makes one convolution for each combination.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/PackAtRunTime.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/kernel/ConvTransposePhases.h"
#include "passes/support/Convolutions.h"
#include "passes/support/StridePhases.h"
#include "passes/support/Tensors.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

#include <cstring>

namespace ingot {
#define GEN_PASS_DEF_DECOMPOSECONVTRANSPOSE
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using kernel::Extent;
using kernel::StridePhase;
using support::typeOf;

/// Returns all combinations of one element of each list. The last list varies
/// fastest.
static SmallVector<SmallVector<StridePhase>>
combine(ArrayRef<SmallVector<StridePhase>> lists) {
  SmallVector<SmallVector<StridePhase>> combined = {{}};
  for (ArrayRef<StridePhase> list : lists) {
    SmallVector<SmallVector<StridePhase>> longer;
    for (const SmallVector<StridePhase> &start : combined)
      for (const StridePhase &phase : list) {
        longer.push_back(start);
        longer.back().push_back(phase);
      }
    combined = std::move(longer);
  }
  return combined;
}

//===----------------------------------------------------------------------===//
// Decomposition
//===----------------------------------------------------------------------===//

namespace {

struct Decomposition {
  Decomposition(OpBuilder &b, cpu::ConvTransposeOp op);

  LogicalResult run();
  bool mergesLast();
  Value emitPhase(ArrayRef<StridePhase> phase, Value dst);
  ElementsAttr weightsOf(ArrayRef<StridePhase> phase);
  /// Computes the phase's weights at run time, either for merged pixel `copy`
  /// or for all merged pixels.
  Value computeWeights(ArrayRef<StridePhase> phase, int64_t copy);
  Value computeWeights(ArrayRef<StridePhase> phase);
  /// Returns the slice that a phase reads. `tensor` has the pixels of the
  /// result.
  Value sliceOf(Value tensor, ArrayRef<StridePhase> phase);
  /// Merges groups of neighbouring pixels into one pixel each. A group has as
  /// many pixels as there are phases. splitPixels is the inverse.
  Value mergePixels(Value tensor);
  Value splitPixels(Value tensor, RankedTensorType type);
  Value repeatChannels(Value operand);
  /// Broadcasts an operand that has one channel to the channels of dst.
  Value spreadChannels(Value operand);
  /// Returns a size of spatial dimension `d`, limited to at least 0, or an
  /// offset, limited to at most the size of src.
  OpFoldResult valueOf(int64_t d, const Extent &extent);
  OpFoldResult offsetInSrc(int64_t d, int64_t offset);

  OpBuilder &b;
  Location loc;
  cpu::ConvTransposeOp op;
  ElementsAttr weights;
  int64_t n, groups;
  /// The phases of each dimension. Merged phases of the last dimension count as
  /// one phase.
  SmallVector<SmallVector<StridePhase>> phases;
  /// The taps of each phase of the last dimension, if merged.
  SmallVector<SmallVector<int64_t>> mergedTaps;
  SmallVector<int64_t> strides;
  SmallVector<Value> operands;
};

struct DecomposeConvTransposePass
    : ingot::impl::DecomposeConvTransposeBase<DecomposeConvTransposePass> {
  void runOnOperation() override {
    SmallVector<cpu::ConvTransposeOp> ops;
    getOperation()->walk([&](cpu::ConvTransposeOp op) { ops.push_back(op); });
    OpBuilder builder(&getContext());
    for (cpu::ConvTransposeOp op : ops) {
      builder.setInsertionPoint(op);
      if (failed(Decomposition(builder, op).run()))
        return signalPassFailure();
    }
  }
};

} // namespace

Decomposition::Decomposition(OpBuilder &b, cpu::ConvTransposeOp op)
    : b(b), loc(op.getLoc()), op(op), weights(nn::getConstant(op.getWeights())),
      n(op.getStrides().size()), groups(op.getGroups()),
      strides(op.getStrides()), operands(op.getEpilogueOperands()) {
  ArrayRef<int64_t> kernel = typeOf(op.getWeights()).getShape().drop_front(2);
  for (int64_t d = 0; d < n; ++d) {
    phases.emplace_back();
    int64_t srcSize = typeOf(op.getSrc()).getDimSize(1 + d);
    int64_t dstSize = typeOf(op.getDst()).getDimSize(1 + d);
    int64_t numPhases = strides[d];
    if (ShapedType::isDynamic(srcSize))
      dstSize = op.sizeBeyond(d);
    else
      numPhases = std::min(numPhases, dstSize);
    for (int64_t r = 0; r < numPhases; ++r)
      phases.back().push_back(
          kernel::phaseOf(r, {srcSize, dstSize, kernel[d], strides[d],
                              op.getPads()[d], op.getDilations()[d]}));
  }
}

OpFoldResult Decomposition::valueOf(int64_t d, const Extent &extent) {
  if (!extent.isOpen)
    return b.getIndexAttr(extent.constant);
  OpFoldResult size = tensor::getMixedSize(b, loc, op.getSrc(), 1 + d);
  AffineExpr symbol = b.getAffineSymbolExpr(0);
  auto map = AffineMap::get(0, 1,
                            {symbol + extent.constant,
                             b.getAffineConstantExpr(0)},
                            b.getContext());
  return affine::makeComposedFoldedAffineMax(b, loc, map, {size});
}

OpFoldResult Decomposition::offsetInSrc(int64_t d, int64_t offset) {
  OpFoldResult size = tensor::getMixedSize(b, loc, op.getSrc(), 1 + d);
  if (offset == 0 || getConstantIntValue(size))
    return b.getIndexAttr(offset);
  auto map = AffineMap::get(
      0, 1, {b.getAffineSymbolExpr(0), b.getAffineConstantExpr(offset)},
      b.getContext());
  return affine::makeComposedFoldedAffineMin(b, loc, map, {size});
}

/// Returns true if the phases of the last dimension become one convolution.
bool Decomposition::mergesLast() {
  ArrayRef<StridePhase> last = phases.back();
  RankedTensorType dst = typeOf(op.getDst());
  if (groups != 1 || int64_t(last.size()) != strides.back() ||
      strides.back() == 1 || !llvm::all_of(last, [&](const StridePhase &phase) {
        return phase.readsAs(last.front()) && !phase.taps.empty();
      }))
    return false;
  // Merges only if needed or cheap: the epilogue's operands must hold the
  // channels of neighbouring pixels together. With too many phases the operands
  // are rearranged to that layout, because separate phases would need too many
  // kernels.
  return strides.back() > support::kMaxStridePhases ||
         llvm::all_of(operands, [&](Value operand) {
           ArrayRef<int64_t> tail = typeOf(operand).getShape().take_back(2);
           return tail[0] == 1 || tail == dst.getShape().take_back(2);
         });
}

LogicalResult Decomposition::run() {
  RankedTensorType type = typeOf(op.getDst());
  Value dst = op.getDst();
  bool merged = mergesLast();
  if (merged) {
    for (const StridePhase &phase : phases.back())
      mergedTaps.push_back(phase.taps);
    phases.back().resize(1);
    for (Value &operand : operands) {
      ArrayRef<int64_t> tail = typeOf(operand).getShape().take_back(2);
      if (tail[0] != 1)
        operand = mergePixels(spreadChannels(operand));
      else if (tail[1] != 1)
        operand = repeatChannels(operand);
    }
    dst = mergePixels(dst);
    strides.back() = 1;
  }
  for (ArrayRef<StridePhase> phase : combine(phases)) {
    dst = emitPhase(phase, dst);
    if (!dst)
      return op.emitOpError("expects weights that are numbers");
  }
  op.getResult().replaceAllUsesWith(merged ? splitPixels(dst, type) : dst);
  op->erase();
  return success();
}

/// Returns the type of `N, …, E, O` split into `N, …, E/s, s, O`.
static RankedTensorType splitType(RankedTensorType type, int64_t stride) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t at = type.getRank() - 2;
  if (!ShapedType::isDynamic(shape[at]))
    shape[at] /= stride;
  shape.insert(shape.begin() + at + 1, stride);
  return type.clone(shape);
}

/// Returns groups that join dimensions `at` and `at` + 1 of `rank` dimensions.
static SmallVector<ReassociationIndices> joining(int64_t rank, int64_t at) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < rank; ++i) {
    groups.push_back({i});
    if (i == at)
      groups.back().push_back(++i);
  }
  return groups;
}

Value Decomposition::mergePixels(Value tensor) {
  RankedTensorType type = splitType(typeOf(tensor), op.getStrides().back());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  // Uses the count of any phase, because all phases of a merged dimension have
  // the same number of pixels.
  sizes[rank - 3] = valueOf(n - 1, phases.back().front().count);
  sizes.insert(sizes.begin() + rank - 2,
               b.getIndexAttr(type.getDimSize(rank - 2)));
  Value split = tensor::ExpandShapeOp::create(
      b, loc, type, tensor, joining(rank, rank - 3), sizes);
  return tensor::CollapseShapeOp::create(b, loc, split,
                                         joining(rank, rank - 2));
}

Value Decomposition::splitPixels(Value tensor, RankedTensorType type) {
  RankedTensorType split = splitType(type, op.getStrides().back());
  int64_t rank = split.getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, tensor);
  sizes[rank - 2] = b.getIndexAttr(split.getDimSize(rank - 2));
  sizes.push_back(b.getIndexAttr(split.getDimSize(rank - 1)));
  Value expanded = tensor::ExpandShapeOp::create(
      b, loc, split, tensor, joining(rank, rank - 2), sizes);
  return tensor::CollapseShapeOp::create(b, loc, expanded,
                                         joining(rank, rank - 3));
}

/// Repeats a vector of channels for each merged pixel.
Value Decomposition::repeatChannels(Value operand) {
  RankedTensorType type = typeOf(operand);
  int64_t times = op.getStrides().back();
  SmallVector<int64_t> shape(type.getShape());
  shape.back() *= times;
  std::vector<char> storage, repeated;
  std::optional<ArrayRef<char>> bytes = cpu::findBytes(operand, storage);
  int64_t row =
      type.getShape().back() * nn::elementBytes(type.getElementType());
  if (!bytes || type.getNumElements() != type.getShape().back()) {
    SmallVector<Value> parts(times, operand);
    return nn::ConcatOp::create(b, loc, type.clone(shape), parts,
                                type.getRank() - 1);
  }
  for (int64_t i = 0; i < times; ++i)
    repeated.insert(repeated.end(), bytes->begin(), bytes->begin() + row);
  return arith::ConstantOp::create(
      b, loc, nn::makeConstantAttr(type.clone(shape), std::move(repeated)));
}

Value Decomposition::spreadChannels(Value operand) {
  int64_t channels = typeOf(op.getDst()).getShape().back();
  if (typeOf(operand).getShape().back() == channels)
    return operand;
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, operand);
  sizes.back() = b.getIndexAttr(channels);
  return support::generate(
      b, loc, sizes, typeOf(operand).getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> indices(at);
        indices.back() = arith::ConstantIndexOp::create(b, loc, 0);
        return tensor::ExtractOp::create(b, loc, operand, indices);
      });
}

Value Decomposition::sliceOf(Value tensor, ArrayRef<StridePhase> phase) {
  RankedTensorType type = typeOf(tensor);
  SmallVector<OpFoldResult> offsets(n + 2, b.getIndexAttr(0)),
      steps(n + 2, b.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(b, loc, tensor);
  SmallVector<int64_t> shape(type.getShape());
  bool isWhole = true;
  for (int64_t d = 0; d < n; ++d) {
    if (shape[1 + d] == 1)
      continue;
    isWhole &= strides[d] == 1;
    shape[1 + d] = phase[d].count.size();
    offsets[1 + d] = b.getIndexAttr(phase[d].first);
    sizes[1 + d] = valueOf(d, phase[d].count);
    steps[1 + d] = b.getIndexAttr(strides[d]);
  }
  if (isWhole)
    return tensor;
  return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), tensor,
                                        offsets, sizes, steps);
}

/// Returns the weights of a phase, packed for a convolution.
ElementsAttr Decomposition::weightsOf(ArrayRef<StridePhase> phase) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  int64_t inputs = shape[0] / groups, outputs = shape[1];
  int64_t copies = std::max<int64_t>(1, mergedTaps.size());
  SmallVector<int64_t> packed = {groups * copies * outputs, inputs};
  int64_t numTaps = 1;
  bool isPadding = false;
  for (const StridePhase &window : phase) {
    packed.push_back(window.numTaps);
    numTaps *= window.numTaps;
    isPadding |= window.taps.empty();
  }
  std::vector<char> storage;
  std::optional<ArrayRef<char>> from = nn::getRawBytes(weights, storage);
  if (!from)
    return {};
  int64_t size = nn::elementBytes(weights.getElementType());
  std::vector<char> to(groups * copies * outputs * inputs * numTaps * size, 0);
  // Find the tap of the kernel for each tap of the phase and each copy.
  for (int64_t copy = 0; copy < copies && !isPadding; ++copy)
    for (int64_t t = 0; t < numTaps; ++t) {
      int64_t tap = 0, rest = t, scale = 1;
      for (int64_t d = n - 1; d >= 0; --d) {
        ArrayRef<int64_t> taps = phase[d].taps;
        if (d == n - 1 && !mergedTaps.empty())
          taps = mergedTaps[copy];
        tap += taps[rest % phase[d].numTaps] * scale;
        rest /= phase[d].numTaps;
        scale *= shape[2 + d];
      }
      int64_t kernel = weights.getNumElements() / (shape[0] * shape[1]);
      for (int64_t c = 0; c < shape[0]; ++c)
        for (int64_t o = 0; o < outputs; ++o) {
          int64_t group = c / inputs;
          int64_t row = (group * copies + copy) * outputs + o;
          std::memcpy(
              &to[((row * inputs + c % inputs) * numTaps + t) * size],
              from->data() + ((c * outputs + o) * kernel + tap) * size, size);
        }
    }
  return nn::makeConstantAttr(
      RankedTensorType::get(packed, weights.getElementType()), std::move(to));
}

Value Decomposition::computeWeights(ArrayRef<StridePhase> phase, int64_t copy) {
  RankedTensorType type = typeOf(op.getWeights());
  int64_t inputs = type.getDimSize(0) / groups, outputs = type.getDimSize(1);
  SmallVector<OpFoldResult> sizes = {b.getIndexAttr(groups * outputs),
                                     b.getIndexAttr(inputs)};
  SmallVector<ArrayRef<int64_t>> taps;
  for (auto [d, window] : llvm::enumerate(phase)) {
    sizes.push_back(b.getIndexAttr(window.numTaps));
    bool isMerged = int64_t(d) == n - 1 && !mergedTaps.empty();
    taps.push_back(isMerged ? mergedTaps[copy] : window.taps);
  }
  if (llvm::any_of(
          phase, [](const StridePhase &window) { return window.taps.empty(); }))
    return support::filled(b, loc, sizes,
                           support::scalar(b, loc, type.getElementType(), 0));
  // Express the dimensions of the weights by those of the filter. Taps descend
  // in equal steps.
  SmallVector<AffineExpr> from = {
      b.getAffineDimExpr(0).floorDiv(outputs) * inputs + b.getAffineDimExpr(1),
      b.getAffineDimExpr(0) % outputs};
  for (auto [d, list] : llvm::enumerate(taps)) {
    int64_t step = list.size() > 1 ? list[1] - list[0] : 0;
    from.push_back(b.getAffineDimExpr(2 + d) * step + list[0]);
  }
  return support::generate(
      b, loc, sizes, type.getElementType(),
      [&](OpBuilder &b, Location loc, ValueRange at) {
        SmallVector<Value> indices;
        for (AffineExpr expr : from)
          indices.push_back(affine::AffineApplyOp::create(
              b, loc, AffineMap::get(2 + n, 0, expr), at));
        return tensor::ExtractOp::create(b, loc, op.getWeights(), indices);
      });
}

Value Decomposition::computeWeights(ArrayRef<StridePhase> phase) {
  if (mergedTaps.empty())
    return computeWeights(phase, 0);
  SmallVector<Value> copies;
  for (int64_t copy = 0, e = mergedTaps.size(); copy < e; ++copy)
    copies.push_back(computeWeights(phase, copy));
  RankedTensorType type = typeOf(copies.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] *= copies.size();
  return nn::ConcatOp::create(b, loc, type.clone(shape), copies, /*axis=*/0);
}

/// Writes the pixels of a phase into dst.
Value Decomposition::emitPhase(ArrayRef<StridePhase> phase, Value dst) {
  ElementsAttr filter = weights ? weightsOf(phase) : ElementsAttr();
  if (weights && !filter)
    return {};
  Value src = op.getSrc();
  SmallVector<OpFoldResult> offsets(n + 2, b.getIndexAttr(0)),
      steps(n + 2, b.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(b, loc, src);
  SmallVector<int64_t> pads, highs, dilations, ones(n, 1),
      shape(typeOf(src).getShape());
  bool isWhole = true;
  for (auto [d, window] : llvm::enumerate(phase)) {
    offsets[1 + d] = offsetInSrc(d, window.srcFirst);
    sizes[1 + d] = valueOf(d, window.srcCount);
    shape[1 + d] = window.srcCount.size();
    isWhole &= window.srcFirst == 0 &&
               (window.srcCount == Extent{true, 0} ||
                window.srcCount.size() == typeOf(src).getDimSize(1 + d));
    pads.push_back(window.padLow);
    highs.push_back(window.padHigh);
    dilations.push_back(window.dilation);
  }
  llvm::append_range(pads, highs);
  if (!isWhole)
    src = tensor::ExtractSliceOp::create(b, loc, typeOf(src).clone(shape), src,
                                         offsets, sizes, steps);
  SmallVector<Value> others;
  for (Value operand : operands)
    others.push_back(sliceOf(operand, phase));
  Value slice = sliceOf(dst, phase);
  bool isDepthwise = support::areDepthwise(
      {typeOf(dst).getShape().back(), shape.back() / groups}, groups);
  Value panels;
  if (!filter) {
    Value computed = computeWeights(phase);
    panels = isDepthwise ? cpu::packTaps(b, loc, computed)
                         : cpu::packFilter(b, loc, computed, groups);
  } else {
    ElementsAttr packed =
        isDepthwise
            ? cpu::packDepthwiseWeights(filter)
            : cpu::packConvWeights(filter, groups, filter.getElementType());
    panels = arith::ConstantOp::create(b, op.getWeights().getLoc(), packed);
  }
  // Omits the zero point for a phase without taps, which multiplies nothing.
  bool hasTaps = llvm::none_of(
      phase, [](const StridePhase &window) { return window.taps.empty(); });
  int64_t zeroPoint = hasTaps ? op.getSrcZeroPoint() : 0;
  Value compensation;
  if (zeroPoint != 0)
    compensation = arith::ConstantOp::create(
        b, op.getWeights().getLoc(),
        cpu::packCompensation(filter, groups, zeroPoint));
  Operation *conv;
  if (isDepthwise)
    conv = cpu::DepthwiseConvOp::create(b, loc, slice.getType(), src, panels,
                                        others, slice, ones, pads, dilations,
                                        /*src_zero_point=*/0, /*schedule=*/{});
  else
    conv = cpu::ConvOp::create(
        b, loc, slice.getType(), src, panels, compensation, /*pairs=*/Value(),
        others, slice, ones, pads, dilations, groups, zeroPoint,
        cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::panels),
        /*dst_signs=*/{},
        /*schedule=*/{});
  IRMapping mapping;
  op.getEpilogue().cloneInto(&conv->getRegion(0), mapping);
  cpu::recordPacking(conv);
  if (slice == dst)
    return conv->getResult(0);
  auto from = slice.getDefiningOp<tensor::ExtractSliceOp>();
  return tensor::InsertSliceOp::create(b, loc, conv->getResult(0), dst,
                                       from.getMixedOffsets(),
                                       from.getMixedSizes(),
                                       from.getMixedStrides());
}
