//===- FuseAttention.cpp - nn-fuse-attention ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/Passes.h"
#include "passes/graph/Scalars.h"
#include "passes/lower/NNToCpu.h"
#include "passes/lower/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace ingot {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using lower::typeOf;

/// From `B, H, L, D` to `B, L, H, D` and back.
static constexpr int64_t kSwapHeads[] = {0, 2, 1, 3};

static bool swapsHeads(nn::TransposeOp op) {
  return op && op.getPerm() == ArrayRef<int64_t>(kSwapHeads);
}

static Value reshape(PatternRewriter &rewriter, Value value,
                     ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(value).clone(shape);
  if (type == value.getType())
    return value;
  return nn::ReshapeOp::create(rewriter, value.getLoc(), type, value);
}

static Value transpose(PatternRewriter &rewriter, Value value,
                       ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(typeOf(value).getDimSize(dim));
  return nn::TransposeOp::create(rewriter, value.getLoc(),
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

  /// The op `value` is the only result of, if nothing else uses it.
  template <typename Op> static Op soleProducer(Value value) {
    return value.hasOneUse() ? value.getDefiningOp<Op>() : Op();
  }

  LogicalResult match(nn::MatMulOp op);
  bool isSupported();
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
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

LogicalResult Attention::match(nn::MatMulOp op) {
  result = op;
  softmax = soleProducer<nn::SoftmaxOp>(op.getA());
  if (!softmax || softmax.getLog() ||
      int64_t(softmax.getAxis()) != typeOf(op.getA()).getRank() - 1 ||
      op.getTransposeA() || op.getTransposeB() || op.getBias())
    return failure();
  Value sum = softmax.getX();
  if (auto add = soleProducer<nn::AddOp>(sum)) {
    bool isFirst = isa_and_nonnull<nn::MatMulOp, nn::MulOp, nn::DivOp>(
                       add.getA().getDefiningOp()) &&
                   add.getA().getType() == add.getType();
    sum = isFirst ? add.getA() : add.getB();
    mask = isFirst ? add.getB() : add.getA();
    if (sum.getType() != add.getType())
      return failure();
  }
  while (!sum.getDefiningOp<nn::MatMulOp>()) {
    Value x = sum.hasOneUse() ? dropScale(sum, scale) : sum;
    if (x == sum)
      return failure();
    sum = x;
  }
  scores = soleProducer<nn::MatMulOp>(sum);
  return success(scores && !scores.getTransposeA() && scores.getTransposeB() &&
                 !scores.getBias());
}

/// Whether there is a kernel for its sizes and types.
bool Attention::isSupported() {
  auto isBF16 = [](Operation *op) {
    auto precision = op->getAttrOfType<StringAttr>("ingot.precision");
    return precision && precision.getValue() == "bf16";
  };
  for (Operation *op : {scores.getOperation(), softmax.getOperation(),
                        result.getOperation()})
    if (!lower::takesNative(op) || isBF16(op))
      return false;
  RankedTensorType q = typeOf(scores.getA()), k = typeOf(scores.getB()),
                   v = typeOf(result.getB());
  int64_t rank = q.getRank();
  if (rank < 3 || rank > 4)
    return false;
  for (RankedTensorType type : {q, k, v})
    if (!type.hasStaticShape() || type.getRank() != rank ||
        type.getShape().drop_back(2) != q.getShape().drop_back(2))
      return false;
  auto fits = [](int64_t size) {
    return size % 16 == 0 && size <= cpu::kMaxHeadSize;
  };
  int64_t keys = k.getDimSize(rank - 2);
  if (keys > cpu::kMaxKeys || !fits(q.getShape().back()) ||
      !fits(v.getShape().back()))
    return false;
  if (!mask)
    return true;
  // Broadcast to the scores, but for the keys.
  RankedTensorType type = typeOf(mask), full = typeOf(scores.getY());
  if (!type.getElementType().isF32() || type.getRank() == 0 ||
      type.getRank() > rank || type.getShape().back() != keys)
    return false;
  int64_t missing = rank - type.getRank();
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (size != 1 && size != full.getDimSize(missing + i))
      return false;
  return true;
}

/// A factor, `B, H, L, D` or `B, L, D`, as `B, L, H, D`.
static Value headsInside(PatternRewriter &rewriter, Value value) {
  if (typeOf(value).getRank() == 3) {
    ArrayRef<int64_t> shape = typeOf(value).getShape();
    return reshape(rewriter, value, {shape[0], shape[1], 1, shape[2]});
  }
  if (auto transposed = value.getDefiningOp<nn::TransposeOp>();
      swapsHeads(transposed))
    return transposed.getX();
  return transpose(rewriter, value, kSwapHeads);
}

/// The mask, which broadcasts to `B, H, M, N`, as `B, H, N, M`.
static Value queriesLast(PatternRewriter &rewriter, Value mask, int64_t rank) {
  ArrayRef<int64_t> given = typeOf(mask).getShape();
  SmallVector<int64_t> shape(rank - given.size(), 1);
  llvm::append_range(shape, given);
  if (rank == 3)
    shape.insert(shape.begin() + 1, 1);
  if (shape[2] != 1)
    return transpose(rewriter, reshape(rewriter, mask, shape), {0, 1, 3, 2});
  std::swap(shape[2], shape[3]);
  return reshape(rewriter, mask, shape);
}

LogicalResult
AttentionPattern::matchAndRewrite(nn::MatMulOp op,
                                  PatternRewriter &rewriter) const {
  Attention found;
  if (failed(found.match(op)) || !found.isSupported())
    return failure();
  Location loc = FusedLoc::get(
      getContext(), {found.scores.getLoc(), found.softmax.getLoc(), op.getLoc()});
  int64_t rank = typeOf(op.getY()).getRank();
  // Queries and keys may be scaled, before or after their transposes.
  double scale = found.scale;
  auto unscaled = [&](Value value) {
    Value heads = headsInside(rewriter, dropScale(value, scale));
    return dropScale(heads, scale);
  };
  Value q = unscaled(found.scores.getA()), k = unscaled(found.scores.getB());
  Value v = headsInside(rewriter, op.getB());
  Value mask =
      found.mask ? queriesLast(rewriter, found.mask, rank) : Value();
  ArrayRef<int64_t> queries = typeOf(q).getShape();
  RankedTensorType type = typeOf(v).clone(
      {queries[0], queries[1], queries[2], typeOf(v).getDimSize(3)});
  Value destination = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                              type.getElementType());
  auto kernel = cpu::AttentionOp::create(
      rewriter, loc, type, q, k, v, mask, ValueRange(), destination,
      rewriter.getF32FloatAttr(float(scale)));
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&kernel.getEpilogue());
    cpu::YieldOp::create(rewriter, loc,
                         ValueRange{body->addArgument(type.getElementType(), loc)});
  }
  if (rank == 3) {
    rewriter.replaceOp(op, reshape(rewriter, kernel.getResult(),
                                   typeOf(op.getY()).getShape()));
    return success();
  }
  // A driver that walks lets only the op at hand be erased.
  for (Operation *user : op->getUsers())
    if (swapsHeads(dyn_cast<nn::TransposeOp>(user)))
      rewriter.replaceAllUsesWith(user->getResult(0), kernel.getResult());
  rewriter.replaceOp(op, transpose(rewriter, kernel.getResult(), kSwapHeads));
  return success();
}
