//===- ReductionsToCpu.cpp - reductions, norms, pooling to cpu ops --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/lower/ScaledBytes.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/kernel/RowEpilogue.h"
#include "passes/support/ReshapeGroups.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

void cpu::buildRowEpilogue(OpBuilder &b, Location loc, Operation *kernel,
                           bool hasScale, bool hasBias) {
  Type type = nn::signless(typeOf(kernel->getResult(0)).getElementType());
  kernel::buildRowEpilogue<cpu::YieldOp>(b, loc, kernel->getRegion(0), type,
                                         hasScale, hasBias);
}

/// Reshapes `value` to `sizes`, and casts it to `type`, which has these sizes.
static Value restore(OpBuilder &b, Location loc, Value value, Sizes sizes,
                     Type type) {
  return castTo(b, loc, reshape(b, loc, value, sizes), type);
}

namespace {

/// Lowers reductions over neighbouring dimensions. If reduced dimensions are
/// not neighbours, reduces one group of neighbours after the other.
struct ReducePattern : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &b) const override;
};

/// Lowers a maximum and a minimum of a whole tensor, both extended to 0, to one
/// pass over the tensor. The minimum may be missing, because even both ends of
/// a range are cheaper than a maximum that passes NaN on.
struct RangePattern : OpRewritePattern<nn::ReduceOp> {
  RangePattern(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}
  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &b) const override;
};

struct SoftmaxPattern : OpRewritePattern<nn::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::SoftmaxOp op,
                                PatternRewriter &b) const override;
};

/// Lowers layer norm and RMS norm.
template <typename Op>
struct RowNormPattern : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override;
};

struct GroupNormPattern : OpRewritePattern<nn::GroupNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(nn::GroupNormOp op,
                                PatternRewriter &b) const override;
};

template <typename Op>
struct PoolPattern : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reduces x of `A, R, C` to `A, C`.
static Value reduce(OpBuilder &b, Location loc, cpu::ReduceKind kind, Value x) {
  Sizes sizes = sizesOf(b, loc, x);
  Value dst = empty(b, loc, {sizes[0], sizes[2]}, b.getF32Type());
  auto op = cpu::ReduceOp::create(b, loc, dst.getType(), kind, x, ValueRange(),
                                  dst, /*schedule=*/{});
  buildRowEpilogue(b, loc, op);
  return op.getResult();
}

/// Returns the number of equal parts in which to reduce `count` rows of `width`
/// elements, so that several tasks share the work. The number divides `count`
/// and leaves large parts.
static int64_t countParts(int64_t samples, int64_t count, int64_t width) {
  if (ShapedType::isDynamic(samples) || ShapedType::isDynamic(count) ||
      ShapedType::isDynamic(width) || samples >= cpu::threshold::reducedSamples)
    return 1;
  for (int64_t parts = cpu::threshold::reducedParts; parts > 1; --parts)
    if (count % parts == 0 &&
        count / parts * width >= cpu::threshold::reducedElements)
      return parts;
  return 1;
}

/// Splits a reduction in two. The first one reduces the first `count`
/// dimensions, which are neighbours. The second one reduces the remaining
/// dimensions. Elements behind the first dimensions are reduced in parallel, in
/// vectors.
static SmallVector<nn::ReduceOp>
splitReduction(nn::ReduceOp op, PatternRewriter &b, int64_t count) {
  Value y = op.getX();
  SmallVector<int64_t> shape(typeOf(y).getShape());
  SmallVector<nn::ReduceOp> parts;
  for (ArrayRef<int64_t> axes :
       {op.getAxes().take_front(count), op.getAxes().drop_front(count)}) {
    for (int64_t axis : axes)
      shape[axis] = 1;
    auto part = cast<nn::ReduceOp>(b.clone(*op));
    part.getXMutable().assign(y);
    part.setAxes(axes);
    part.setKeepDims(true);
    part.getY().setType(typeOf(y).clone(shape));
    // Only the first part squares elements.
    if (!parts.empty() && op.getKind() == nn::ReduceKind::sum_square)
      part.setKind(nn::ReduceKind::sum);
    y = part.getY();
    parts.push_back(part);
  }
  if (!op.getKeepDims()) {
    Sizes kept;
    for (auto [i, size] : llvm::enumerate(sizesOf(b, op.getLoc(), y)))
      if (!llvm::is_contained(op.getAxes(), int64_t(i)))
        kept.push_back(size);
    y = reshape(b, op.getLoc(), y, kept);
  }
  b.replaceOp(op, castTo(b, op.getLoc(), y, op.getY().getType()));
  return parts;
}

LogicalResult ReducePattern::matchAndRewrite(nn::ReduceOp op,
                                             PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  int64_t count = 1, numAxes = op.getAxes().size();
  while (count < numAxes && op.getAxes()[count - 1] + 1 == op.getAxes()[count])
    ++count;
  if (count < numAxes) {
    for (nn::ReduceOp part : splitReduction(op, b, count)) {
      b.setInsertionPoint(part);
      if (failed(matchAndRewrite(part, b)))
        llvm_unreachable("parts are of the types of the whole");
    }
    return success();
  }
  RankedTensorType type = typeOf(op.getX());
  ArrayRef<int64_t> axes = op.getAxes();
  int64_t first = axes.front(), end = axes.back() + 1;
  ArrayRef<int64_t> shape = type.getShape();
  Location loc = op.getLoc();
  Sizes all = sizesOf(b, loc, op.getX());
  ArrayRef<OpFoldResult> sizes(all);
  OpFoldResult outer = productOf(b, loc, sizes.take_front(first));
  OpFoldResult length = productOf(b, loc, sizes.slice(first, axes.size()));
  OpFoldResult inner = productOf(b, loc, sizes.drop_front(end));
  int64_t channels = support::productOf(shape.drop_front(end));
  auto kind = cpu::ReduceKind(op.getKind());
  int64_t parts =
      countParts(support::productOf(shape.take_front(first)),
                 support::productOf(shape.slice(first, axes.size())), channels);
  Value x = op.getX();
  std::optional<ScaledBytes> bytes;
  if (kind == cpu::ReduceKind::mean)
    bytes = readScaledBytes(
        x, channels != 1 ? channels
                         : support::productOf(shape.slice(first, axes.size())));
  if (bytes)
    x = bytes->bytes;
  if (parts > 1) {
    OpFoldResult count = b.getIndexAttr(parts);
    x = reshape(b, loc, x,
                {mulSizes(b, loc, outer, count),
                 divSizes(b, loc, length, count), inner});
    x = reduce(b, loc, kind, x);
    x = reshape(b, loc, x, {outer, count, inner});
    // Only the first part squares elements.
    if (kind == cpu::ReduceKind::sum_square)
      kind = cpu::ReduceKind::sum;
  } else {
    x = reshape(b, loc, x, {outer, length, inner});
  }
  Value y = reduce(b, loc, kind, x);
  if (bytes)
    y = bytes->scale(b, loc, y);
  Sizes left;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (!llvm::is_contained(axes, int64_t(i)))
      left.push_back(size);
    else if (op.getKeepDims())
      left.push_back(b.getIndexAttr(1));
  }
  b.replaceOp(op, restore(b, loc, y, left, op.getY().getType()));
  return success();
}

/// Returns true if all users replace negative numbers by 0, with `isMost`;
/// otherwise positive numbers.
static bool isExtendedToZero(Value value, bool isMost) {
  auto isZero = [](Value bound) { return nn::getSplat(bound) == 0.0; };
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (!isMost)
      return isa<nn::MinOp>(user) && isZero(user->getOperand(1));
    return isa<nn::ReluOp>(user) ||
           (isa<nn::MaxOp>(user) && isZero(user->getOperand(1)));
  });
}

/// Returns the minimum of the same tensor as the maximum `most`, which comes
/// first.
static nn::ReduceOp findLeast(nn::ReduceOp most) {
  for (Operation *user : most.getX().getUsers())
    if (auto op = dyn_cast<nn::ReduceOp>(user);
        op && op.getKind() == nn::ReduceKind::min &&
        op->getBlock() == most->getBlock() && most->isBeforeInBlock(op) &&
        !op.getY().use_empty() && op.getAxes() == most.getAxes() &&
        op.getY().getType() == most.getY().getType() &&
        isExtendedToZero(op.getY(), /*isMost=*/false))
      return op;
  return {};
}

LogicalResult RangePattern::matchAndRewrite(nn::ReduceOp op,
                                            PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  RankedTensorType type = typeOf(op.getX());
  if (op.getKind() != nn::ReduceKind::max || !type.getElementType().isF32() ||
      int64_t(op.getAxes().size()) != type.getRank())
    return b.notifyMatchFailure(op, "is not the maximum of a whole f32 tensor");
  if (!isExtendedToZero(op.getY(), /*isMost=*/true))
    return b.notifyMatchFailure(op, "is not one end of a range with 0");
  Location loc = op.getLoc();
  OpFoldResult length = productOf(b, loc, sizesOf(b, loc, op.getX()));
  OpFoldResult one = b.getIndexAttr(1), two = b.getIndexAttr(2);
  int64_t parts = countParts(1, support::productOf(type.getShape()), 1);
  OpFoldResult count = b.getIndexAttr(parts);
  Value x =
      reshape(b, loc, op.getX(), {count, divSizes(b, loc, length, count), one});
  Value dst = empty(b, loc, {count, two}, b.getF32Type());
  auto kernel =
      cpu::ReduceOp::create(b, loc, dst.getType(), cpu::ReduceKind::range, x,
                            ValueRange(), dst, /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel);
  Value ends = kernel.getResult();
  if (parts > 1)
    ends = reduce(b, loc, cpu::ReduceKind::max,
                  reshape(b, loc, ends, {one, count, two}));
  Sizes left(op.getKeepDims() ? type.getRank() : 0, one);
  auto endAt = [&](int64_t column) {
    Value end = tensor::ExtractSliceOp::create(
        b, loc, ends, Sizes{b.getIndexAttr(0), b.getIndexAttr(column)},
        Sizes{one, one}, Sizes{one, one});
    return restore(b, loc, end, left, op.getY().getType());
  };
  // The minimum is not erased, because the walk comes to it later.
  if (nn::ReduceOp least = findLeast(op)) {
    Value low = endAt(1);
    b.replaceAllUsesWith(least.getY(),
                         nn::NegOp::create(b, loc, low.getType(), low));
  }
  b.replaceOp(op, endAt(0));
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxPattern::matchAndRewrite(nn::SoftmaxOp op,
                                              PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  RankedTensorType type = op.getY().getType();
  Location loc = op.getLoc();
  int64_t rank = type.getRank(), axis = op.getAxis();
  Value x = op.getX();
  // Joins the dimensions behind the axis into columns.
  bool isLast = support::productOf(type.getShape().drop_front(axis + 1)) == 1;
  int64_t joined = isLast ? axis : axis + 1;
  auto groups = groupsFrom(rank, joined);
  bool isJoined = joined < rank - 1;
  Sizes sizes = sizesOf(b, loc, x);
  if (isJoined)
    x = tensor::CollapseShapeOp::create(b, loc, x, groups);
  Value dst =
      isJoined ? emptyLike(b, loc, x) : destinationOf(b, op->getResult(0));
  auto kernel = cpu::SoftmaxOp::create(b, loc, x.getType(), x, ValueRange(),
                                       dst, op.getLog(), /*columns=*/!isLast,
                                       /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel);
  Value y = kernel.getResult();
  if (isJoined)
    y = tensor::ExpandShapeOp::create(b, loc, type, y, groups, sizes);
  b.replaceOp(op, y);
  return success();
}

template <typename Op>
LogicalResult RowNormPattern<Op>::matchAndRewrite(Op op,
                                                  PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  constexpr bool isRms = std::is_same_v<Op, nn::RMSNormOp>;
  RankedTensorType type = op.getY().getType();
  int64_t axis = op.getAxis();
  Location loc = op.getLoc();
  Value scale = op.getScale(), bias;
  if constexpr (!isRms)
    bias = op.getBias();
  SmallVector<Value> operands;
  for (Value factor : {scale, bias})
    if (factor)
      operands.push_back(factor);
  // Joins the normalized dimensions into one.
  for (Value &factor : operands) {
    Sizes ones(axis, OpFoldResult(b.getIndexAttr(1)));
    ones.push_back(b.getIndexAttr(typeOf(factor).getNumElements()));
    factor = reshape(b, loc, factor, ones);
  }
  Sizes sizes = sizesOf(b, loc, op.getX());
  Sizes flatSizes(ArrayRef<OpFoldResult>(sizes).take_front(axis));
  flatSizes.push_back(
      productOf(b, loc, ArrayRef<OpFoldResult>(sizes).drop_front(axis)));
  Value x = op.getX();
  if (axis != type.getRank() - 1)
    x = reshape(b, loc, x, flatSizes);
  auto kernel = cpu::RowNormOp::create(b, loc, x.getType(), x, operands,
                                       emptyLike(b, loc, x), op.getEpsilon(),
                                       isRms, /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel, bool(scale), bool(bias));
  Value y = kernel.getResult();
  if (y.getType() != type)
    y = restore(b, loc, y, sizes, type);
  b.replaceOp(op, y);
  return success();
}

LogicalResult GroupNormPattern::matchAndRewrite(nn::GroupNormOp op,
                                                PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  RankedTensorType type = op.getY().getType();
  int64_t rank = type.getRank();
  Location loc = op.getLoc();
  Sizes sizes = sizesOf(b, loc, op.getX());
  OpFoldResult positions =
      productOf(b, loc, ArrayRef<OpFoldResult>(sizes).drop_front().drop_back());
  Value x = op.getX();
  if (rank != 3)
    x = reshape(b, loc, x, {sizes[0], positions, sizes.back()});
  SmallVector<Value> operands = {support::expandVector(b, op.getScale(), 3),
                                 support::expandVector(b, op.getBias(), 3)};
  auto kernel = cpu::GroupNormOp::create(
      b, loc, x.getType(), x, operands, emptyLike(b, loc, x),
      op.getGroupsAttr(), op.getEpsilonAttr(), /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel, /*hasScale=*/true, /*hasBias=*/true);
  Value y = kernel.getResult();
  if (y.getType() != type)
    y = restore(b, loc, y, sizes, type);
  b.replaceOp(op, y);
  return success();
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Returns true if no element is in several windows. The kernel converts an
/// element for each window that reads it, so overlapping windows cost more.
static bool readsOnce(nn::AvgPoolOp op) {
  for (auto [size, stride] : llvm::zip_equal(op.getKernel(), op.getStrides()))
    if (size > stride)
      return false;
  return true;
}

/// Returns true if each window has elements outside of the padding, and its
/// mean is over these elements only.
static bool seesElements(nn::AvgPoolOp op) {
  if (llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }))
    return true;
  if (op.getCountIncludePad() ||
      llvm::any_of(op.getDilations(), [](int64_t step) { return step != 1; }))
    return false;
  size_t n = op.getKernel().size();
  for (auto [i, pad] : llvm::enumerate(op.getPads()))
    if (pad >= op.getKernel()[i % n])
      return false;
  return true;
}

template <typename Op>
LogicalResult PoolPattern<Op>::matchAndRewrite(Op op,
                                               PatternRewriter &b) const {
  if (Reason reason = whyNotToCpu(op))
    return b.notifyMatchFailure(op, *reason);
  RankedTensorType type = op.getY().getType();
  auto kind = cpu::PoolKind::max;
  std::optional<ScaledBytes> bytes;
  if constexpr (std::is_same_v<Op, nn::AvgPoolOp>) {
    kind = op.getCountIncludePad() ? cpu::PoolKind::mean_with_pads
                                   : cpu::PoolKind::mean;
    if (readsOnce(op))
      bytes = readScaledBytes(op.getX(), type.getShape().back());
    if (bytes && bytes->offset != 0 && !seesElements(op))
      bytes.reset();
  }
  Location loc = op.getLoc();
  Value destination = destinationOf(b, op->getResult(0));
  auto kernel = cpu::PoolOp::create(
      b, loc, type, kind, bytes ? bytes->bytes : Value(op.getX()), ValueRange(),
      destination, op.getKernel(), op.getStrides(), op.getPads(),
      op.getDilations(), /*schedule=*/{});
  buildRowEpilogue(b, loc, kernel);
  Value y = kernel.getResult();
  b.replaceOp(op, bytes ? bytes->scale(b, loc, y) : y);
  return success();
}

void cpu::populateRowsToCpu(RewritePatternSet &patterns) {
  patterns.add<GroupNormPattern, PoolPattern<nn::AvgPoolOp>,
               PoolPattern<nn::MaxPoolOp>, RangePattern, ReducePattern,
               RowNormPattern<nn::LayerNormOp>, RowNormPattern<nn::RMSNormOp>,
               SoftmaxPattern>(patterns.getContext());
}
