//===- QuantizeComputedProducts.cpp - nn-quantize-computed-products -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of two computed factors, each behind a dequantize. The sum of
// (a - za) (b - zb) over k is
//
//     sum of a b - zb sum of a - za sum of b + K za zb,
//
// with a of ui8 and b of i8. All of it is exact in i32.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace ingot {
#define GEN_PASS_DEF_QUANTIZECOMPUTEDPRODUCTS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// The most terms whose sum fits i32 for any bytes.
static constexpr int64_t kMaxTerms = (int64_t(1) << 31) / (255 * 255);

namespace {

/// A factor of bytes with its scale.
struct Factor {
  Value bytes;
  Scale scale;
};

struct QuantizeComputed : OpRewritePattern<nn::MatMulOp> {
  QuantizeComputed(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;

  Pass::Statistic &count;
};

struct QuantizeComputedProductsPass
    : ingot::impl::QuantizeComputedProductsBase<QuantizeComputedProductsPass> {
  using QuantizeComputedProductsBase::QuantizeComputedProductsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<QuantizeComputed>(&getContext(), numProducts);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace

/// Returns the bytes that `value` dequantizes with one constant scale, or
/// nullopt.
static std::optional<Factor> readFactor(Value value) {
  nn::DequantizeOp op = getDequantize(value);
  if (!op || !nn::isByte(typeOf(op.getX()).getElementType()) ||
      nn::getConstant(op.getX()))
    return std::nullopt;
  return Factor{op.getX(), *getScale(op)};
}

/// Converts a factor to ui8 or i8.
static void convert(OpBuilder &builder, Location loc, Factor &factor,
                    bool toUnsigned) {
  if (typeOf(factor.bytes).getElementType().isUnsignedInteger() == toUnsigned)
    return;
  factor.bytes = toUnsigned ? quantize::toUnsigned(builder, loc, factor.bytes)
                            : quantize::toSigned(builder, loc, factor.bytes);
  factor.scale.zeroPoint += toUnsigned ? kSignOffset : -kSignOffset;
}

/// Returns true if a softmax and a product follow `op` without rounding in
/// between. One kernel of floats computes such an attention.
static bool isOfFloatAttention(nn::MatMulOp op) {
  Operation *user = op;
  while (user->hasOneUse()) {
    user = *user->user_begin();
    if (isa<nn::SoftmaxOp>(user))
      return llvm::all_of(user->getUsers(), llvm::IsaPred<nn::MatMulOp>);
    if (!isa<nn::AddOp, nn::DivOp, nn::MulOp>(user))
      return false;
  }
  return false;
}

/// Subtracts `zero` times the sums of `bytes` along `dim` from `sums`.
static Value subtractSums(OpBuilder &builder, Location loc, Value sums,
                          Value bytes, int64_t dim, int64_t zero) {
  if (zero == 0)
    return sums;
  Type wide = builder.getI32Type();
  Value x = nn::CastOp::create(builder, loc, typeOf(bytes).clone(wide), bytes);
  x = nn::ReduceOp::create(builder, loc, x, nn::ReduceKind::sum, dim,
                           /*keep_dims=*/true);
  x = nn::MulOp::create(builder, loc, typeOf(x), x,
                        nn::makeScalar(builder, loc, wide, double(zero)));
  return nn::SubOp::create(builder, loc, typeOf(sums), sums, x);
}

LogicalResult
QuantizeComputed::matchAndRewrite(nn::MatMulOp op,
                                  PatternRewriter &rewriter) const {
  RankedTensorType type = op.getType();
  if (op.getTransposeA() || op.getBias() || !type.getElementType().isF32())
    return rewriter.notifyMatchFailure(op, "is not a plain product of f32");
  std::optional<Factor> a = readFactor(op.getA()), b = readFactor(op.getB());
  if (!a || !b)
    return rewriter.notifyMatchFailure(
        op, "has a factor that is constant, or not bytes with one scale");
  if (isOfFloatAttention(op))
    return rewriter.notifyMatchFailure(
        op, "has scores of an attention that multiplies floats, too");
  const int64_t depth = typeOf(a->bytes).getShape().back();
  if (ShapedType::isDynamic(depth) || depth > kMaxTerms)
    return rewriter.notifyMatchFailure(
        op, "has sums of open length, or sums that exceed i32");
  const Answer<bool> answer = Policy::of(op).multiplyComputedBytes(op);
  if (!record(op, Question::precision, answer, "int8", "float32"))
    return rewriter.notifyMatchFailure(op, answer.reason);

  Location loc = op.getLoc();
  convert(rewriter, loc, *a, /*toUnsigned=*/true);
  convert(rewriter, loc, *b, /*toUnsigned=*/false);
  const int64_t zeroA = a->scale.zeroPoint, zeroB = b->scale.zeroPoint;
  const int64_t rank = type.getRank();
  RankedTensorType wide = type.clone(rewriter.getI32Type());
  Value sums = nn::MatMulOp::create(rewriter, loc, wide, a->bytes, b->bytes,
                                    /*bias=*/Value(), /*transpose_a=*/false,
                                    op.getTransposeB());
  sums = subtractSums(rewriter, loc, sums, a->bytes, rank - 1, zeroB);
  // The sums of the columns lie along the rows of a transposed factor.
  if (zeroA != 0) {
    Value columns = b->bytes;
    if (op.getTransposeB()) {
      SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(rank));
      std::swap(perm[rank - 2], perm[rank - 1]);
      SmallVector<int64_t> shape(typeOf(columns).getShape());
      std::swap(shape[rank - 2], shape[rank - 1]);
      columns = nn::TransposeOp::create(
          rewriter, loc, typeOf(columns).clone(shape), columns, perm);
    }
    sums = subtractSums(rewriter, loc, sums, columns, rank - 2, zeroA);
  }
  if (zeroA * zeroB != 0)
    sums =
        nn::AddOp::create(rewriter, loc, wide, sums,
                          nn::makeScalar(rewriter, loc, wide.getElementType(),
                                         double(depth * zeroA * zeroB)));
  Value y = nn::CastOp::create(rewriter, loc, type, sums);
  rewriter.replaceOpWithNewOp<nn::MulOp>(
      op, type, y,
      nn::makeScalar(rewriter, loc, type.getElementType(),
                     a->scale.scale * b->scale.scale));
  ++count;
  return success();
}
