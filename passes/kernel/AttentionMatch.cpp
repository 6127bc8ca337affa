//===- AttentionMatch.cpp - an attention of nn ops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/AttentionMatch.h"

#include "passes/support/Producers.h"
#include "passes/support/Scalars.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using kernel::AttentionMatch;
using kernel::AttentionOperands;
using support::typeOf;

/// The permutation from `B, H, L, D` to `B, L, H, D`. The inverse is equal.
static constexpr int64_t kSwapHeads[] = {0, 2, 1, 3};

static bool swapsHeads(nn::TransposeOp op) {
  return op && op.getPerm() == ArrayRef<int64_t>(kSwapHeads);
}

/// Returns the op whose only result is `value`, if the value has one use.
template <typename Op>
static Op soleProducer(Value value) {
  return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
}

/// Matches `value = number * x`. Returns `x`, and multiplies `scale` by the
/// number.
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

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// The most values that may be added to the scores.
static constexpr size_t kMaxMasks = 2;

/// Returns true if `value` is a product plus up to `sums` other values. The
/// product may be scaled.
static bool areScores(Value value, size_t sums) {
  double scale = 1;
  value = dropScale(value, scale);
  if (value.getDefiningOp<nn::MatMulOp>())
    return true;
  auto add = value.getDefiningOp<nn::AddOp>();
  return add && sums != 0 &&
         (areScores(add.getA(), sums - 1) || areScores(add.getB(), sums - 1));
}

/// Returns the softmax that computes `value`. Looks through a select behind the
/// softmax that replaces NaN probabilities, or the probabilities of some
/// queries, by zeros. Returns null if `value` has other users.
nn::SoftmaxOp AttentionMatch::matchSoftmax(Value value) {
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
  // Either all probabilities of a row are NaN, or none is.
  auto isNaN = soleProducer<nn::IsNaNOp>(condition);
  if (!isNaN || isNaN.getX() != p || !llvm::hasNItems(p.getUses(), 2))
    return {};
  isSafe = true;
  locations.push_back(isNaN.getLoc());
  return p.getDefiningOp<nn::SoftmaxOp>();
}

Reason AttentionMatch::match(nn::MatMulOp op) {
  result = op;
  locations.push_back(op.getLoc());
  softmax = matchSoftmax(op.getA());
  if (!softmax || softmax.getLog() ||
      int64_t(softmax.getAxis()) != typeOf(op.getA()).getRank() - 1 ||
      op.getTransposeA() || op.getTransposeB() || op.getBias())
    return "is not a plain product of a softmax's result without other users";
  locations.push_back(softmax.getLoc());
  Value sum = softmax.getX();
  while (auto add = soleProducer<nn::AddOp>(sum)) {
    if (masks.size() == kMaxMasks)
      return "adds more to the scores than a mask and a bias";
    locations.push_back(add.getLoc());
    bool isFirst = areScores(add.getA(), kMaxMasks) &&
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
    return "has scores that are not a plain product with transposed keys "
           "without other users";
  return std::nullopt;
}

/// Returns the transpose that moved the heads of an operand to the front, or
/// null.
static nn::TransposeOp headsTranspose(Value value) {
  auto op = value.getDefiningOp<nn::TransposeOp>();
  return swapsHeads(op) ? op : nn::TransposeOp();
}

/// Returns true if queries that are multiplied by all scales stay in the range
/// of f32.
bool AttentionMatch::isScaleModest() {
  double all = scale;
  for (Value factor : {scores.getA(), scores.getB()})
    if (auto transposed = headsTranspose(dropScale(factor, all)))
      dropScale(transposed.getX(), all);
  return std::abs(all) >= 0x1p-64 && std::abs(all) <= 0x1p64;
}

Reason AttentionMatch::whyNotOneKernel(const shape::SameSizes &sizes) {
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
  // A mask must broadcast to the scores. Along the keys, it must have the full
  // size.
  auto fitsScores = [&](Value mask) {
    RankedTensorType type = typeOf(mask);
    int64_t missing = rank - type.getRank();
    if (type.getElementType() != q.getElementType() || type.getRank() == 0 ||
        missing < 0)
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
  if (!isScaleModest())
    return "scales queries out of range";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operands of a kernel
//===----------------------------------------------------------------------===//

/// Inserts a dimension of size 1 into `value`, before dimension `at`.
static Value addDim(PatternRewriter &rewriter, Location loc, Value value,
                    int64_t at) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, value);
  sizes.insert(sizes.begin() + at, rewriter.getIndexAttr(1));
  return support::reshape(rewriter, loc, value, sizes);
}

static Value transpose(PatternRewriter &rewriter, Location loc, Value value,
                       ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(typeOf(value).getDimSize(dim));
  return nn::TransposeOp::create(rewriter, loc, typeOf(value).clone(shape),
                                 value, perm);
}

/// Returns an operand `B, H, L, D` or `B, L, D` as `B, L, H, D`.
static Value headsInside(PatternRewriter &rewriter, Location loc, Value value) {
  if (typeOf(value).getRank() == 3)
    return addDim(rewriter, loc, value, 2);
  if (auto transposed = headsTranspose(value))
    return transposed.getX();
  return transpose(rewriter, loc, value, kSwapHeads);
}

Value kernel::queriesLast(PatternRewriter &rewriter, Location loc, Value mask,
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

AttentionOperands AttentionMatch::buildOperands(PatternRewriter &rewriter) {
  Location loc = result.getLoc();
  AttentionOperands operands;
  operands.scale = scale;
  // Queries and keys may be scaled before or after their transposes.
  auto unscaled = [&](Value value) {
    Value heads = headsInside(rewriter, loc, dropScale(value, operands.scale));
    return dropScale(heads, operands.scale);
  };
  operands.q = unscaled(scores.getA());
  operands.k = unscaled(scores.getB());
  operands.v = headsInside(rewriter, loc, result.getB());
  // Sum the masks first. CSE can then merge the sums of layers that have equal
  // masks.
  Value mask;
  for (Value other : masks)
    mask = mask ? nn::AddOp::create(rewriter, loc, other, mask) : other;
  if (mask)
    operands.mask = kernel::queriesLast(rewriter, loc, mask,
                                        typeOf(result.getY()).getRank());
  return operands;
}

void AttentionMatch::replaceBy(PatternRewriter &rewriter, Value value,
                               ArrayRef<OpFoldResult> sizes) {
  nn::MatMulOp op = result;
  Location loc = op.getLoc();
  if (typeOf(op.getY()).getRank() == 3) {
    SmallVector<OpFoldResult> dims(sizes);
    dims.erase(dims.begin() + 2);
    rewriter.replaceOp(op, support::reshape(rewriter, loc, value, dims));
    return;
  }
  if (zeroed) {
    Location at = value.getLoc();
    RankedTensorType type = typeOf(value);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value zero = arith::ConstantOp::create(rewriter, at, scalar,
                                           rewriter.getZeroAttr(scalar));
    Value isZero = transpose(rewriter, at, zeroed, kSwapHeads);
    value = nn::SelectOp::create(rewriter, at, type, isZero, zero, value);
  }
  // The greedy driver lets a pattern erase only the current op.
  for (Operation *user : op->getUsers())
    if (swapsHeads(dyn_cast<nn::TransposeOp>(user)))
      rewriter.replaceAllUsesWith(user->getResult(0), value);
  rewriter.replaceOp(op, transpose(rewriter, loc, value, kSwapHeads));
}
