//===- FuseAttention.cpp - nn-fuse-attention ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/lower/cpu/Passes.h"
#include "passes/support/Reason.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Scalars.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/lower/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using lower::typeOf;

/// From `B, H, L, D` to `B, L, H, D` and back.
static constexpr int64_t kSwapHeads[] = {0, 2, 1, 3};

static bool swapsHeads(nn::TransposeOp op) {
  return op && op.getPerm() == ArrayRef<int64_t>(kSwapHeads);
}

static Value reshape(PatternRewriter &rewriter, Location loc, Value value,
                     ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value).clone(shape);
  if (type == value.getType())
    return value;
  return nn::ReshapeOp::create(rewriter, loc, type, value);
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
  if (auto number = graph::matchScalar<nn::MulOp>(value, x, /*either=*/true)) {
    scale *= *number;
    return dropScale(x, scale);
  }
  if (auto number = graph::matchScalar<nn::DivOp>(value, x)) {
    scale /= *number;
    return dropScale(x, scale);
  }
  return value;
}

namespace {

/// What is found of an attention: `B, H, L, D` (or `B, L, D`), scaled or not.
struct Attention {
  nn::MatMulOp scores, result;
  nn::SoftmaxOp softmax;
  Value mask;
  double scale = 1;
  /// Of the ops between the factors and the result.
  SmallVector<Location> locations;

  /// The op `value` is the only result of, if nothing else uses it.
  template <typename Op> static Op soleProducer(Value value) {
    return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
  }

  /// Fills this in; else says why `op` is not the end of an attention.
  Reason match(nn::MatMulOp op);
  /// Why there is no kernel for its sizes and types.
  Reason whyNot();
  bool isScaleModest();
};

struct AttentionPattern : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;
};

struct FuseAttentionPass : ingot::impl::FuseAttentionBase<FuseAttentionPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionPattern>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace

Reason Attention::match(nn::MatMulOp op) {
  result = op;
  softmax = soleProducer<nn::SoftmaxOp>(op.getA());
  if (!softmax || softmax.getLog() ||
      int64_t(softmax.getAxis()) != typeOf(op.getA()).getRank() - 1 ||
      op.getTransposeA() || op.getTransposeB() || op.getBias())
    return "is no plain product of a softmax's result, used nowhere else";
  locations = {op.getLoc(), softmax.getLoc()};
  Value sum = softmax.getX();
  if (auto add = soleProducer<nn::AddOp>(sum)) {
    locations.push_back(add.getLoc());
    bool isFirst = isa_and_nonnull<nn::MatMulOp, nn::MulOp, nn::DivOp>(
                       add.getA().getDefiningOp()) &&
                   add.getA().getType() == add.getType();
    sum = isFirst ? add.getA() : add.getB();
    mask = isFirst ? add.getB() : add.getA();
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

Reason Attention::whyNot() {
  for (Operation *op : {scores.getOperation(), softmax.getOperation(),
                        result.getOperation()}) {
    if (Reason reason = whyNotBackend(op, BackendKind::native))
      return reason;
    if (Reason reason = whyNotFloat32(op))
      return reason;
    if (isBF16(op))
      return "multiplies bf16";
  }
  RankedTensorType q = typeOf(scores.getA()), k = typeOf(scores.getB()),
                   v = typeOf(result.getB());
  int64_t rank = q.getRank();
  if (rank < 3 || rank > 4)
    return "has queries of rank " + std::to_string(rank);
  for (RankedTensorType type : {q, k, v})
    if (!type.hasStaticShape() || type.getRank() != rank ||
        type.getShape().drop_back(2) != q.getShape().drop_back(2))
      return "has queries, keys or values of open or broadcast sizes: " +
             describe(q) + ", " + describe(k) + ", " + describe(v);
  auto fits = [](int64_t size) {
    return size % 16 == 0 && size <= cpu::kMaxHeadSize;
  };
  int64_t keys = k.getDimSize(rank - 2);
  if (keys > cpu::kMaxKeys || !fits(q.getShape().back()) ||
      !fits(v.getShape().back()))
    return "has more keys, or larger or odder heads, than the kernel holds: " +
           describe(k) + ", " + describe(v);
  if (!mask)
    return std::nullopt;
  // Broadcast to the scores, but for the keys.
  RankedTensorType type = typeOf(mask), full = typeOf(scores.getY());
  auto unfit = [&] {
    return "has a mask " + describe(type) + " for scores " + describe(full);
  };
  if (!type.getElementType().isF32() || type.getRank() == 0 ||
      type.getRank() > rank || type.getShape().back() != keys)
    return unfit();
  int64_t missing = rank - type.getRank();
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (size != 1 && size != full.getDimSize(missing + i))
      return unfit();
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
  if (typeOf(value).getRank() == 3) {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    return reshape(rewriter, loc, value, {shape[0], shape[1], 1, shape[2]});
  }
  if (auto transposed = headsTranspose(value))
    return transposed.getX();
  return transpose(rewriter, loc, value, kSwapHeads);
}

/// The mask, which broadcasts to `B, H, M, N`, as `B, H, N, M`.
static Value queriesLast(PatternRewriter &rewriter, Location loc, Value mask,
                         int64_t rank) {
  ArrayRef<int64_t> given = typeOf(mask).getShape();
  SmallVector<int64_t> shape(rank - given.size(), 1);
  llvm::append_range(shape, given);
  if (rank == 3)
    shape.insert(shape.begin() + 1, 1);
  if (shape[2] != 1)
    return transpose(rewriter, loc, reshape(rewriter, loc, mask, shape),
                     {0, 1, 3, 2});
  std::swap(shape[2], shape[3]);
  return reshape(rewriter, loc, mask, shape);
}

LogicalResult
AttentionPattern::matchAndRewrite(nn::MatMulOp op,
                                  PatternRewriter &rewriter) const {
  Attention found;
  if (Reason reason = found.match(op))
    return rewriter.notifyMatchFailure(op, *reason);
  if (Reason reason = found.whyNot())
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
  Value mask =
      found.mask ? queriesLast(rewriter, op.getLoc(), found.mask, rank)
                 : Value();
  ArrayRef<int64_t> queries = typeOf(q).getShape();
  RankedTensorType type = typeOf(v).clone(
      {queries[0], queries[1], queries[2], typeOf(v).getDimSize(3)});
  Value destination = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                              type.getElementType());
  auto kernel = cpu::AttentionOp::create(
      rewriter, loc, type, q, k, v, mask, ValueRange(), destination,
      rewriter.getF32FloatAttr(float(scale)), /*schedule=*/{});
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&kernel.getEpilogue());
    cpu::YieldOp::create(
        rewriter, loc,
        ValueRange{body->addArgument(type.getElementType(), loc)});
  }
  if (rank == 3) {
    rewriter.replaceOp(op, reshape(rewriter, op.getLoc(), kernel.getResult(),
                                   typeOf(op.getY()).getShape()));
    return success();
  }
  // A driver that walks lets only the op at hand be erased.
  for (Operation *user : op->getUsers())
    if (swapsHeads(dyn_cast<nn::TransposeOp>(user)))
      rewriter.replaceAllUsesWith(user->getResult(0), kernel.getResult());
  rewriter.replaceOp(op, transpose(rewriter, op.getLoc(), kernel.getResult(),
                                   kSwapHeads));
  return success();
}
