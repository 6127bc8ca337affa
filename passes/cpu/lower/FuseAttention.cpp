//===- FuseAttention.cpp - nn-fuse-attention ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/NativeSupport.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Producers.h"
#include "passes/support/Reason.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Scalars.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// From `B, H, L, D` to `B, L, H, D` and back.
static constexpr int64_t kSwapHeads[] = {0, 2, 1, 3};

static bool swapsHeads(nn::TransposeOp op) {
  return op && op.getPerm() == ArrayRef<int64_t>(kSwapHeads);
}

/// `value` with a dimension of one element more, before dimension `at`.
static Value addDim(PatternRewriter &rewriter, Location loc, Value value,
                    int64_t at) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, value);
  sizes.insert(sizes.begin() + at, rewriter.getIndexAttr(1));
  return support::reshape(rewriter, loc, value, sizes);
}

static Value transpose(PatternRewriter &rewriter, Location loc, Value value,
                       ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(typeOf(value).getDimSize(dim));
  return nn::TransposeOp::create(rewriter, loc,
                                 typeOf(value).clone(shape), value, perm);
}

/// `x` of `value = number * x`; `scale` takes the number.
static Value dropScale(Value value, double &scale) {
  Value x;
  if (auto number =
          support::matchScalar<nn::MulOp>(value, x, /*either=*/true)) {
    scale *= *number;
    return dropScale(x, scale);
  }
  if (auto number = support::matchScalar<nn::DivOp>(value, x)) {
    scale /= *number;
    return dropScale(x, scale);
  }
  return value;
}

/// How many numbers may be added to each score.
static constexpr size_t kMostMasks = 2;

/// Whether `value` is a product, scaled or not, to which up to `sums` others
/// are added.
static bool areScores(Value value, size_t sums) {
  double scale = 1;
  value = dropScale(value, scale);
  if (value.getDefiningOp<nn::MatMulOp>())
    return true;
  auto add = value.getDefiningOp<nn::AddOp>();
  return add && sums != 0 &&
         (areScores(add.getA(), sums - 1) || areScores(add.getB(), sums - 1));
}

namespace {

/// What is found of an attention: `B, H, L, D` (or `B, L, D`), scaled or not.
struct Attention {
  nn::MatMulOp scores, result;
  nn::SoftmaxOp softmax;
  /// What is added to the scores, the last first: a mask, a bias of positions.
  SmallVector<Value, 2> masks;
  double scale = 1;
  /// Whether probabilities that are no numbers are zeros.
  bool isSafe = false;
  /// Where the result is zero, whatever it attends to: `B, H, L, 1`, of which
  /// all but the last broadcast. Null if nowhere.
  Value zeroed;
  /// Of the ops between the factors and the result.
  SmallVector<Location> locations;

  /// The op `value` is the only result of, if nothing else uses it.
  template <typename Op> static Op soleProducer(Value value) {
    return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
  }

  /// Fills this in; else says why `op` is not the end of an attention.
  Reason match(nn::MatMulOp op);
  /// The softmax of `value`, its result, or its result but zeros where that is
  /// no number, or for some queries; null if it is used elsewhere.
  nn::SoftmaxOp matchSoftmax(Value value);
  /// Why there is no kernel for its sizes and types.
  Reason whyNot(const shape::SameSizes &sizes);
  bool isScaleModest();
};

struct AttentionPattern : OpRewritePattern<nn::MatMulOp> {
  AttentionPattern(MLIRContext *context, shape::SameSizes &sizes)
      : OpRewritePattern(context), sizes(sizes) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;

  shape::SameSizes &sizes;
};

struct FuseAttentionPass : ingot::impl::FuseAttentionBase<FuseAttentionPass> {
  using FuseAttentionBase::FuseAttentionBase;

  void runOnOperation() override {
    shape::SameSizes sizes(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionPattern>(&getContext(), sizes);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    if (!orF32 || !cpu::allMultiplyBF16(getOperation()))
      return;
    IngotDialect::PrecisionAttrHelper precision(&getContext());
    getOperation().walk([&](nn::MatMulOp op) {
      if (isBF16(op) && !nn::getConstant(op.getB()))
        precision.removeAttr(op);
    });
  }
};

} // namespace

nn::SoftmaxOp Attention::matchSoftmax(Value value) {
  auto select = soleProducer<nn::SelectOp>(value);
  if (!select)
    return soleProducer<nn::SoftmaxOp>(value);
  Value condition = select.getCondition(), p = select.getB();
  if (support::smallSplat(select.getA()) != 0 || p.getType() != value.getType())
    return {};
  locations.push_back(select.getLoc());
  // A query without probabilities gets zeros.
  if (typeOf(condition).getRank() == 4 &&
      typeOf(condition).getDimSize(3) == 1) {
    zeroed = condition;
    return soleProducer<nn::SoftmaxOp>(p);
  }
  // A row's probabilities are all numbers, or none is.
  auto isNaN = soleProducer<nn::IsNaNOp>(condition);
  if (!isNaN || isNaN.getX() != p || !llvm::hasNItems(p.getUses(), 2))
    return {};
  isSafe = true;
  locations.push_back(isNaN.getLoc());
  return p.getDefiningOp<nn::SoftmaxOp>();
}

Reason Attention::match(nn::MatMulOp op) {
  result = op;
  locations.push_back(op.getLoc());
  softmax = matchSoftmax(op.getA());
  if (!softmax || softmax.getLog() ||
      int64_t(softmax.getAxis()) != typeOf(op.getA()).getRank() - 1 ||
      op.getTransposeA() || op.getTransposeB() || op.getBias())
    return "is no plain product of a softmax's result, used nowhere else";
  locations.push_back(softmax.getLoc());
  Value sum = softmax.getX();
  while (auto add = soleProducer<nn::AddOp>(sum)) {
    if (masks.size() == kMostMasks)
      return "adds more to the scores than a mask and a bias";
    locations.push_back(add.getLoc());
    bool isFirst = areScores(add.getA(), kMostMasks) &&
                   add.getA().getType() == add.getType();
    sum = isFirst ? add.getA() : add.getB();
    masks.push_back(isFirst ? add.getB() : add.getA());
    if (sum.getType() != add.getType())
      return "adds a mask that is larger than the scores";
  }
  while (!sum.getDefiningOp<nn::MatMulOp>()) {
    Value x = sum.hasOneUse() ? dropScale(sum, scale) : sum;
    if (x == sum)
      return "has a softmax of something else than scaled scores";
    locations.push_back(sum.getLoc());
    sum = x;
  }
  scores = soleProducer<nn::MatMulOp>(sum);
  if (scores)
    locations.push_back(scores.getLoc());
  if (!scores || scores.getTransposeA() || !scores.getTransposeB() ||
      scores.getBias())
    return "has scores that are no plain product with transposed keys, used "
           "nowhere else";
  return std::nullopt;
}

/// Products of open size have no kernel of their own, so that nobody took them;
/// in an attention they have.
static bool isLeftForLoops(Operation *op) {
  return isa<nn::MatMulOp>(op) && !whyNotBackend(op, kernel::kLoopsBackend) &&
         cpu::whyNotNative(op);
}

Reason Attention::whyNot(const shape::SameSizes &sizes) {
  for (Operation *op : {scores.getOperation(), softmax.getOperation(),
                        result.getOperation()}) {
    Reason other = whyNotBackend(op, cpu::kBackend);
    if (other && !isLeftForLoops(op))
      return other;
    if (Reason reason = whyNotFloat32(op))
      return reason;
  }
  RankedTensorType q = typeOf(scores.getA()), k = typeOf(scores.getB()),
                   v = typeOf(result.getB());
  int64_t rank = q.getRank();
  if (rank < 3 || rank > 4)
    return "has queries of rank " + std::to_string(rank);
  auto isSame = [&](Value a, int64_t i, Value b, int64_t j) {
    int64_t size = typeOf(a).getDimSize(i);
    if (size != typeOf(b).getDimSize(j))
      return false;
    return !ShapedType::isDynamic(size) || sizes.isSame(a, i, b, j);
  };
  for (Value factor : {scores.getA(), scores.getB(), result.getB()}) {
    bool fits = typeOf(factor).getRank() == rank;
    for (int64_t i = 0; fits && i < rank - 2; ++i)
      fits = isSame(factor, i, scores.getA(), i);
    if (!fits)
      return "has queries, keys or values whose batches broadcast, or may: " +
             describe(q) + ", " + describe(k) + ", " + describe(v);
  }
  if (rank == 4 && ShapedType::isDynamic(q.getDimSize(1)))
    return "has an open number of heads: " + describe(q);
  auto fits = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size % 16 == 0 && size > 0 &&
           size <= cpu::kMaxHeadSize;
  };
  if (k.getDimSize(rank - 2) == 0 || !fits(q.getShape().back()) ||
      !fits(v.getShape().back()))
    return "has no keys, or larger or odder heads than the kernel holds: " +
           describe(k) + ", " + describe(v);
  // Broadcast to the scores, but for the keys.
  auto fitsScores = [&](Value mask) {
    RankedTensorType type = typeOf(mask);
    int64_t missing = rank - type.getRank();
    if (!type.getElementType().isF32() || type.getRank() == 0 || missing < 0)
      return false;
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      bool isKeys = int64_t(i) + 1 == type.getRank();
      if ((isKeys || size != 1) &&
          !isSame(mask, int64_t(i), scores.getY(), missing + int64_t(i)))
        return false;
    }
    return true;
  };
  for (Value mask : masks)
    if (!fitsScores(mask))
      return "has a mask " + describe(typeOf(mask)) + " for scores " +
             describe(typeOf(scores.getY()));
  return std::nullopt;
}

/// The transpose that brought the heads of a factor to the front, if any.
static nn::TransposeOp headsTranspose(Value value) {
  auto op = value.getDefiningOp<nn::TransposeOp>();
  return swapsHeads(op) ? op : nn::TransposeOp();
}

/// Whether all that scales the scores may scale the queries instead, without
/// taking ordinary ones out of f32's range.
bool Attention::isScaleModest() {
  double all = scale;
  for (Value factor : {scores.getA(), scores.getB()})
    if (auto transposed = headsTranspose(dropScale(factor, all)))
      dropScale(transposed.getX(), all);
  return std::abs(all) >= 0x1p-64 && std::abs(all) <= 0x1p64;
}

/// A factor, `B, H, L, D` or `B, L, D`, as `B, L, H, D`.
static Value headsInside(PatternRewriter &rewriter, Location loc, Value value) {
  if (typeOf(value).getRank() == 3)
    return addDim(rewriter, loc, value, 2);
  if (auto transposed = headsTranspose(value))
    return transposed.getX();
  return transpose(rewriter, loc, value, kSwapHeads);
}

/// The mask, which broadcasts to `B, H, M, N`, as `B, H, N, M`.
static Value queriesLast(PatternRewriter &rewriter, Location loc, Value mask,
                         int64_t rank) {
  mask = support::expandRank(rewriter, mask, rank);
  if (rank == 3)
    mask = addDim(rewriter, loc, mask, 1);
  if (typeOf(mask).getDimSize(2) != 1)
    return transpose(rewriter, loc, mask, {0, 1, 3, 2});
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, mask);
  std::swap(sizes[2], sizes[3]);
  return support::reshape(rewriter, loc, mask, sizes);
}

LogicalResult
AttentionPattern::matchAndRewrite(nn::MatMulOp op,
                                  PatternRewriter &rewriter) const {
  Attention found;
  if (Reason reason = found.match(op))
    return rewriter.notifyMatchFailure(op, *reason);
  if (Reason reason = found.whyNot(sizes))
    return rewriter.notifyMatchFailure(op, *reason);
  if (!found.isScaleModest())
    return rewriter.notifyMatchFailure(op, "scales queries out of range");
  Location loc = FusedLoc::get(
      getContext(), llvm::to_vector(llvm::reverse(found.locations)));
  int64_t rank = typeOf(op.getY()).getRank();
  // Queries and keys may be scaled, before or after their transposes.
  double scale = found.scale;
  auto unscaled = [&](Value value) {
    Value heads =
        headsInside(rewriter, op.getLoc(), dropScale(value, scale));
    return dropScale(heads, scale);
  };
  Value q = unscaled(found.scores.getA()), k = unscaled(found.scores.getB());
  Value v = headsInside(rewriter, op.getLoc(), op.getB());
  // Added up once for all layers that have the same.
  Value mask;
  for (Value other : found.masks)
    mask = mask ? nn::AddOp::create(rewriter, op.getLoc(), other, mask)
                : other;
  if (mask)
    mask = queriesLast(rewriter, op.getLoc(), mask, rank);
  sizes.forget(op);
  SmallVector<OpFoldResult> dims = tensor::getMixedSizes(rewriter, loc, q);
  dims.back() = tensor::getMixedSize(rewriter, loc, v, 3);
  Value destination = tensor::EmptyOp::create(rewriter, loc, dims,
                                              typeOf(v).getElementType());
  RankedTensorType type = typeOf(destination);
  auto kernel = cpu::AttentionOp::create(
      rewriter, loc, type, q, k, v, mask, ValueRange(), destination,
      rewriter.getF32FloatAttr(float(scale)),
      found.isSafe ? rewriter.getUnitAttr() : UnitAttr(), /*schedule=*/{});
  IngotDialect::PrecisionAttrHelper precision(getContext());
  if (isBF16(op) && isBF16(found.scores))
    precision.setAttr(kernel, precision.getAttr(op));
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&kernel.getEpilogue());
    cpu::YieldOp::create(
        rewriter, loc,
        ValueRange{body->addArgument(type.getElementType(), loc)});
  }
  if (rank == 3) {
    dims.erase(dims.begin() + 2);
    rewriter.replaceOp(
        op, support::reshape(rewriter, op.getLoc(), kernel.getResult(), dims));
    return success();
  }
  Value result = kernel.getResult();
  if (found.zeroed) {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value zero = arith::ConstantOp::create(rewriter, loc, scalar,
                                           rewriter.getZeroAttr(scalar));
    Value isZero = transpose(rewriter, loc, found.zeroed, kSwapHeads);
    result = nn::SelectOp::create(rewriter, loc, type, isZero, zero, result);
  }
  // A driver that walks lets only the op at hand be erased.
  for (Operation *user : op->getUsers())
    if (swapsHeads(dyn_cast<nn::TransposeOp>(user)))
      rewriter.replaceAllUsesWith(user->getResult(0), result);
  rewriter.replaceOp(op, transpose(rewriter, op.getLoc(), result, kSwapHeads));
  return success();
}
