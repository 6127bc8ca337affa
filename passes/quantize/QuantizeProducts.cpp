//===- QuantizeProducts.cpp - nn-quantize-products ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/Quantized.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace ingot {
#define GEN_PASS_DEF_QUANTIZEPRODUCTS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

namespace {

/// Constant weights: numbers of bytes that have a zero point of 0, and their
/// scales, one for each output or one for all.
struct Weights {
  std::vector<double> bytes;
  std::vector<double> scales;

  double scaleOf(int64_t output) const {
    return scales[scales.size() == 1 ? 0 : output];
  }
};

} // namespace

/// The bytes of `value`, less their zero points; null with a reason. Scales may
/// vary along dimension `outputs`.
static std::optional<Weights> readWeights(Value value, int64_t outputs,
                                          std::string &reason) {
  auto op = value.getDefiningOp<nn::DequantizeOp>();
  auto constant = op ? nn::getConstant(op.getX()) : ElementsAttr();
  if (!constant || !nn::isByte(typeOf(op.getX()).getElementType())) {
    reason = "has weights that are no constant bytes";
    return std::nullopt;
  }
  auto bytes = nn::readDoubles(constant);
  auto scales = nn::getConstantDoubles(op.getScale());
  std::optional<std::vector<double>> zeros = std::vector<double>{0};
  if (op.getZeroPoint())
    zeros = nn::getConstantDoubles(op.getZeroPoint());
  if (!bytes || !scales || scales->empty() || !zeros || zeros->empty()) {
    reason = "has weights of computed scales";
    return std::nullopt;
  }
  if (typeOf(op.getScale()).getRank() != 0 && scales->size() != 1 &&
      int64_t(op.getAxis()) != outputs) {
    reason = "has scales of weights along another dimension than its outputs";
    return std::nullopt;
  }
  ArrayRef<int64_t> shape = typeOf(op.getX()).getShape();
  int64_t behind = lower::productOf(shape.drop_front(outputs + 1));
  int64_t count = shape[outputs];
  for (auto [i, byte] : llvm::enumerate(*bytes)) {
    int64_t output = int64_t(i) / behind % count;
    byte -= (*zeros)[zeros->size() == 1 ? 0 : output];
    if (byte < -128 || byte > 127) {
      reason = "has weights that are no signed bytes without their zero point";
      return std::nullopt;
    }
  }
  return Weights{std::move(*bytes), std::move(*scales)};
}

/// Data of ui8 and its scale; null if `value` is not dequantized from bytes.
static Value readData(OpBuilder &builder, Location loc, Value value,
                      Scale &scale) {
  nn::DequantizeOp op = getDequantize(value);
  if (!op || !nn::isByte(typeOf(op.getX()).getElementType()))
    return {};
  scale = *getScale(op);
  if (typeOf(op.getX()).getElementType().isUnsignedInteger())
    return op.getX();
  scale.zeroPoint += kSignOffset;
  return toUnsigned(builder, loc, op.getX());
}

/// The elements of a constant bias of `count` outputs; zeros if there is none.
/// An integer one behind its own dequantize counts as what that gives.
static std::optional<std::vector<double>> readBias(Value bias, int64_t count) {
  if (!bias)
    return std::vector<double>(count, 0);
  std::optional<std::vector<double>> values;
  if (auto op = bias.getDefiningOp<nn::DequantizeOp>()) {
    values = nn::getConstantDoubles(op.getX());
    auto scales = nn::getConstantDoubles(op.getScale());
    std::optional<std::vector<double>> zeros = std::vector<double>{0};
    if (op.getZeroPoint())
      zeros = nn::getConstantDoubles(op.getZeroPoint());
    if (!values || !scales || !zeros)
      return std::nullopt;
    auto at = [](const std::vector<double> &all, size_t i) {
      return all[all.size() == 1 ? 0 : i];
    };
    for (auto [i, value] : llvm::enumerate(*values))
      value = (value - at(*zeros, i)) * at(*scales, i);
  } else {
    values = nn::getConstantDoubles(bias);
  }
  if (!values)
    return std::nullopt;
  if (values->size() == 1)
    values->resize(count, values->front());
  if (int64_t(values->size()) != count)
    return std::nullopt;
  return values;
}

/// sums factors + shifts, of f32; both constants vary along dimension `dim`.
static Value scaleAndShift(PatternRewriter &rewriter, Location loc,
                           RankedTensorType type, Value sums, int64_t dim,
                           ArrayRef<double> factors, ArrayRef<double> shifts) {
  SmallVector<int64_t> shape(type.getRank() - dim, 1);
  shape[0] = factors.size();
  auto constant = RankedTensorType::get(shape, type.getElementType());
  Value y = nn::CastOp::create(rewriter, loc, type, sums);
  y = nn::MulOp::create(rewriter, loc, type, y,
                        nn::makeConstant(rewriter, loc, constant, factors));
  if (llvm::all_of(shifts, [](double shift) { return shift == 0; }))
    return y;
  return nn::AddOp::create(rewriter, loc, type, y,
                           nn::makeConstant(rewriter, loc, constant, shifts));
}

static constexpr char kNoBytes[] = "has data that is no bytes of one scale";
static constexpr char kNoFloats[] = "does not compute f32";
static constexpr char kNoBias[] = "has a bias that is not constant";

/// Makes `weights` the bytes of a constant.
static Value makeBytes(OpBuilder &builder, Value like, const Weights &weights) {
  return nn::makeConstant(builder, like.getLoc(),
                          typeOf(like).clone(builder.getI8Type()),
                          weights.bytes);
}

namespace {

struct QuantizeConv : OpRewritePattern<nn::ConvOp> {
  QuantizeConv(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType();
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, kNoFloats);
    std::string reason;
    std::optional<Weights> weights = readWeights(op.getW(), 0, reason);
    if (!weights)
      return rewriter.notifyMatchFailure(op, reason);
    int64_t outputs = typeOf(op.getW()).getDimSize(0);
    auto bias = readBias(op.getBias(), outputs);
    if (!bias)
      return rewriter.notifyMatchFailure(op, kNoBias);
    Scale scale;
    Value x = readData(rewriter, op.getLoc(), op.getX(), scale);
    if (!x)
      return rewriter.notifyMatchFailure(op, kNoBytes);
    // Without padding the zero point adds the same to all sums of an output.
    bool isPadded =
        llvm::any_of(op.getPads(), [](int64_t p) { return p != 0; });
    int64_t size = weights->bytes.size() / std::max<int64_t>(outputs, 1);
    std::vector<double> factors(outputs);
    for (int64_t o = 0; o < outputs; ++o) {
      factors[o] = scale.scale * weights->scaleOf(o);
      double sum = 0;
      for (int64_t i = 0; i < size && !isPadded; ++i)
        sum += weights->bytes[o * size + i];
      (*bias)[o] -= factors[o] * double(scale.zeroPoint) * sum;
    }
    Value sums = nn::ConvOp::create(
        rewriter, op.getLoc(), type.clone(rewriter.getI32Type()), x,
        makeBytes(rewriter, op.getW(), *weights), /*bias=*/Value(),
        op.getStrides(), op.getPads(), op.getDilations(), op.getGroups(),
        op.getChannelsLast(), isPadded ? scale.zeroPoint : 0);
    int64_t dim = op.getChannelsLast() ? type.getRank() - 1 : 1;
    rewriter.replaceOp(op, scaleAndShift(rewriter, op.getLoc(), type, sums, dim,
                                         factors, *bias));
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct QuantizeMatMul : OpRewritePattern<nn::MatMulOp> {
  QuantizeMatMul(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getType(), b = typeOf(op.getB());
    if (!type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, kNoFloats);
    if (b.getRank() != 2 || op.getTransposeA())
      return rewriter.notifyMatchFailure(op, "has no matrix of weights");
    int64_t dim = op.getTransposeB() ? 0 : 1;
    std::string reason;
    std::optional<Weights> weights = readWeights(op.getB(), dim, reason);
    if (!weights)
      return rewriter.notifyMatchFailure(op, reason);
    int64_t outputs = b.getDimSize(dim), depth = b.getDimSize(1 - dim);
    auto bias = readBias(op.getBias(), outputs);
    if (!bias)
      return rewriter.notifyMatchFailure(op, kNoBias);
    Scale scale;
    Value a = readData(rewriter, op.getLoc(), op.getA(), scale);
    if (!a)
      return rewriter.notifyMatchFailure(op, kNoBytes);
    std::vector<double> factors(outputs), columns(outputs, 0);
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t k = 0; k < depth; ++k)
        columns[o] +=
            weights->bytes[dim == 0 ? o * depth + k : k * outputs + o];
    for (int64_t o = 0; o < outputs; ++o) {
      factors[o] = scale.scale * weights->scaleOf(o);
      (*bias)[o] -= factors[o] * double(scale.zeroPoint) * columns[o];
    }
    Value sums = nn::MatMulOp::create(
        rewriter, op.getLoc(), type.clone(rewriter.getI32Type()), a,
        makeBytes(rewriter, op.getB(), *weights), /*bias=*/Value(),
        /*transpose_a=*/false, op.getTransposeB());
    rewriter.replaceOp(op, scaleAndShift(rewriter, op.getLoc(), type, sums,
                                         type.getRank() - 1, factors, *bias));
    ++count;
    return success();
  }
  Pass::Statistic &count;
};

struct QuantizeProductsPass
    : ingot::impl::QuantizeProductsBase<QuantizeProductsPass> {
  using QuantizeProductsBase::QuantizeProductsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<QuantizeConv, QuantizeMatMul>(&getContext(), numProducts);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
