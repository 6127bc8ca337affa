//===- QuantizeProducts.cpp - nn-quantize-products ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/QuantizationParameters.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/form/Passes.h"
#include "passes/quantize/form/ProductOperands.h"
#include "passes/quantize/form/WindowSums.h"
#include "passes/support/Convolutions.h"
#include "passes/support/DynamicScale.h"
#include "passes/support/ExactSums.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_QUANTIZEPRODUCTS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using namespace ingot::support;

namespace {

/// The operands of an int8 product.
struct Operands {
  /// The data, of ui8.
  Value x;
  Scale scale;
  Weights weights;
  std::vector<double> bias;
  /// Dequantize of data whose scale and zero point are computed at run time, or
  /// null. If it is set, `computedBias` replaces `bias`, and `scale` is unused.
  nn::DequantizeOp computed;
  Value computedBias;
};

} // namespace

/// Returns the ui8 data that `value` dequantizes, and sets `scale`. Signed data
/// are shifted to ui8. Returns null if `value` is not dequantized from bytes.
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

/// Returns true if `scale` is of the rows of `x`: it has the rank of `x` and a
/// last dimension of 1.
static bool isOfRows(Value scale, Value x) {
  const int64_t rank = typeOf(scale).getRank();
  return rank > 1 && rank == typeOf(x).getRank() &&
         typeOf(scale).getShape().back() == 1;
}

/// Returns the dequantize of ui8 data whose scale and zero point are computed
/// at run time. There is one for all data of `product`, or one for each row of
/// a matrix. Returns null if `value` is computed by another op.
static nn::DequantizeOp getComputed(Operation *product, Value value) {
  auto op = value.getDefiningOp<nn::DequantizeOp>();
  if (!op || getScale(op) ||
      !typeOf(op.getX()).getElementType().isUnsignedInteger(8) ||
      !op.getZeroPoint())
    return {};
  for (Value parameter : {op.getScale(), op.getZeroPoint()})
    if (typeOf(parameter).getRank() != 0 &&
        !(isa<nn::MatMulOp>(product) && isOfRows(parameter, op.getX())))
      return {};
  return op;
}

namespace {
/// The forms of weights that exceed signed bytes, which a product takes.
struct WideForms {
  bool offsets, remainders = true;
};
} // namespace

/// Reads the operands of an int8 product. Returns nullopt and sets `reason` if
/// the product cannot be computed in int8. Weights may have offsets or
/// remainders only if the product `takes` them.
static std::optional<Operands> readOperands(OpBuilder &builder, Operation *op,
                                            const FloatProduct &product,
                                            WideForms takes,
                                            StringRef &reason) {
  const auto [x, w, outputs, bias, groups] = product;
  std::optional<Weights> weights = readWeights(op, w, outputs, reason);
  if (!weights)
    return std::nullopt;
  if ((!takes.remainders || getComputed(op, x) || !splitExcess(op, *weights)) &&
      !makeSignedBytes(*weights)) {
    reason = "has weights that are not signed bytes after subtraction of the "
             "zero point";
    return std::nullopt;
  }
  if (!weights->offsets.empty() && (!takes.offsets || getComputed(op, x))) {
    reason = "has groups whose weights are not signed bytes, or of data "
             "whose zero point only a run knows";
    return std::nullopt;
  }
  if (nn::DequantizeOp computed = getComputed(op, x))
    return Operands{computed.getX(), Scale{}, std::move(*weights), {}, computed,
                    bias};
  const int64_t outputsOfBatch =
      groups * weights->type.getDimSize(weights->dim);
  auto biases = readBias(bias, outputsOfBatch, reason);
  if (!biases)
    return std::nullopt;
  // All batches have the same bias.
  const std::vector<double> ofBatch = *biases;
  for (int64_t batch = 1; batch < weights->batches; ++batch)
    llvm::append_range(*biases, ofBatch);
  Scale scale;
  Value data = readData(builder, op->getLoc(), x, scale);
  if (!data) {
    reason = "has data that are not bytes with one scale";
    return std::nullopt;
  }
  if (llvm::any_of(weights->parameters.scales, [&](double ofOutput) {
        return scale.scale * ofOutput > kMaxSumScale;
      })) {
    reason = "has scales with which sums leave the range of f32";
    return std::nullopt;
  }
  if (!weights->offsets.empty() &&
      !areExactAsFloats(*weights, scale.zeroPoint)) {
    reason =
        "has too many weights for an output, and they are not signed bytes";
    return std::nullopt;
  }
  return Operands{data, scale, std::move(*weights), std::move(*biases), {}, {}};
}

/// Returns for each output the sum of its weights, or of `term` applied to
/// them.
static std::vector<double> sumWeights(
    const Weights &weights,
    function_ref<double(double)> term = [](double weight) { return weight; }) {
  std::vector<double> totals(weights.outputs(), 0);
  weights.forEachRun([&](int64_t output, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      totals[output] += term(weights.bytes[i]);
  });
  return totals;
}

/// Creates (sums - zero point * weight sums) * scale * weight scales + bias, in
/// f32. The scale and the zero point of the data are computed at run time.
static Value dequantizeComputed(PatternRewriter &rewriter, Location loc,
                                RankedTensorType type, Value sums, int64_t dim,
                                const Operands &operands) {
  const Weights &weights = operands.weights;
  nn::DequantizeOp data = operands.computed;
  sums = support::takeOffZeroPoint(rewriter, loc, sums, data.getZeroPoint(),
                                   alongOutputs(rewriter, loc, type, dim,
                                                rewriter.getI32Type(),
                                                sumWeights(weights)));
  std::vector<double> scales;
  for (int64_t o = 0; o < int64_t(weights.outputs()); ++o)
    scales.push_back(weights.parameters.scaleOf(o));
  const support::SplitScales split = support::splitScales(scales);
  Value constant = alongOutputs(rewriter, loc, type, dim, type.getElementType(),
                                split.first);
  Value y = nn::CastOp::create(rewriter, loc, type, sums);
  y = nn::MulOp::create(rewriter, loc, type, y, constant);
  y = nn::MulOp::create(rewriter, loc, type, y, data.getScale());
  if (!split.second.empty())
    y = nn::MulOp::create(rewriter, loc, type, y,
                          alongOutputs(rewriter, loc, type, dim,
                                       type.getElementType(), split.second));
  Value bias = operands.computedBias;
  if (!bias)
    return y;
  // Reshape the bias of a convolution, which is a vector.
  if (dim != type.getRank() - 1 && typeOf(bias).getRank() == 1)
    bias = nn::ReshapeOp::create(
        rewriter, loc, typeOf(bias).clone(typeOf(constant).getShape()), bias);
  return nn::AddOp::create(rewriter, loc, type, y, bias);
}

/// Adds the offsets of the weights, multiplied by
/// the sums of the data.
static Value addOffsets(PatternRewriter &rewriter, Location loc, Value sums,
                        Value dataSums, int64_t dim, ArrayRef<double> offsets) {
  RankedTensorType type = typeOf(sums);
  Type element = type.getElementType();
  // If all outputs have one offset, kernels add one value per row in registers.
  Value added =
      llvm::all_equal(offsets)
          ? nn::MulOp::create(
                rewriter, loc, typeOf(dataSums), dataSums,
                nn::makeScalar(rewriter, loc, element, offsets.front()))
          : nn::MulOp::create(
                rewriter, loc, type, dataSums,
                alongOutputs(rewriter, loc, type, dim, element, offsets));
  return nn::AddOp::create(rewriter, loc, type, sums, added);
}

namespace {
/// Integer sums of a product, whose outputs lie along dimension `dim`.
/// `dataSums` are the sums of the data; they are given if the weights have
/// offsets. `data` are the data at each place where weights have remainders.
struct IntegerSums {
  Value sums;
  int64_t dim;
  Value dataSums;
  SmallVector<Value> data;
};
} // namespace

/// Converts the integer sums of a product to the product's result in f32.
/// Without padding, the zero point adds a constant to each output.
static Value dequantizeSums(PatternRewriter &rewriter, Location loc,
                            RankedTensorType type, const IntegerSums &integers,
                            const Operands &operands, bool isPadded) {
  auto [sums, dim, dataSums, data] = integers;
  if (operands.computed)
    return dequantizeComputed(rewriter, loc, type, sums, dim, operands);
  const Weights &weights = operands.weights;
  std::vector<double> totals(operands.bias.size(), 0), factors, shifts;
  if (!isPadded)
    totals = sumWeights(weights);
  // Subtract the zero-point term of sign weights as integers. The sums must not
  // be rounded, because later ops compare them.
  if (!isPadded && operands.scale.zeroPoint != 0 &&
      llvm::all_of(weights.bytes, isSign)) {
    for (double &total : totals)
      total *= -double(operands.scale.zeroPoint);
    sums = nn::AddOp::create(
        rewriter, loc, typeOf(sums), sums,
        alongOutputs(rewriter, loc, type, dim, rewriter.getI32Type(), totals));
    totals.assign(weights.outputs(), 0);
  }
  for (auto [o, total] : llvm::enumerate(totals)) {
    factors.push_back(operands.scale.scale *
                      weights.parameters.scaleOf(o % weights.outputs()));
    shifts.push_back(operands.bias[o] -
                     factors[o] * double(operands.scale.zeroPoint) * total);
  }
  Type element = type.getElementType();
  Value y = sums;
  if (sums.getType() != type)
    y = nn::CastOp::create(rewriter, loc, type, sums);
  if (dataSums)
    y = addOffsets(rewriter, loc, y, dataSums, dim, weights.offsets);
  y = addRemainders(rewriter, y, dim, weights, data, operands.scale.zeroPoint);
  y = nn::MulOp::create(
      rewriter, loc, type, y,
      alongOutputs(rewriter, loc, type, dim, element, factors));
  if (llvm::any_of(shifts, [](double shift) { return shift != 0; }))
    y = nn::AddOp::create(
        rewriter, loc, type, y,
        alongOutputs(rewriter, loc, type, dim, element, shifts));
  return y;
}

/// Returns the weights minus their zero points, even if they do not fit in
/// int8. Returns nullopt if f32 cannot hold all sums.
static std::optional<Weights> weightsInFloats(const Operands &operands) {
  if (operands.computed)
    return std::nullopt;
  Weights numbers = operands.weights;
  if (!numbers.offsets.empty())
    numbers.forEachRun([&](int64_t output, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i)
        numbers.bytes[i] += numbers.offsets[output];
    });
  const int64_t zero = operands.scale.zeroPoint;
  const auto most = double(std::max(std::abs(zero), std::abs(255 - zero)));
  if (llvm::any_of(
          sumWeights(numbers, [](double weight) { return std::abs(weight); }),
          [&](double total) { return most * total > double(1 << 24); }))
    return std::nullopt;
  return numbers;
}

static Value makeBytes(OpBuilder &builder, Location loc,
                       const Weights &weights) {
  auto type = RankedTensorType::get(weights.type.getShape(),
                                    builder.getI8Type());
  return nn::makeConstant(builder, loc, type, weights.bytes);
}

namespace {

template <typename Op> struct QuantizeProduct : OpRewritePattern<Op> {
  QuantizeProduct(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Op>(context), count(count) {}

  Pass::Statistic &count;
};

struct QuantizeConv : QuantizeProduct<nn::ConvOp> {
  using QuantizeProduct::QuantizeProduct;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    StringRef reason;
    const Answer<bool> asFloats = Policy::of(op).multiplyBytesAsFloats(op);
    std::optional<Operands> operands =
        readOperands(rewriter, op, {op.getX(), op.getW(), 0, op.getBias()},
                     {/*offsets=*/op.getGroups() == 1 || asFloats.choice,
                      /*remainders=*/!asFloats.choice},
                     reason);
    if (!operands)
      return rewriter.notifyMatchFailure(op, reason);
    RankedTensorType type = op.getType();
    SmallVector<int64_t> pads(op.getPads());
    int64_t dim = op.getChannelsLast() ? type.getRank() - 1 : 1;
    std::optional<Weights> numbers;
    if (asFloats.choice)
      numbers = weightsInFloats(*operands);
    if (numbers) {
      record(op, Question::precision, "float32 that holds int8",
             asFloats.reason);
      Value sums = nn::ConvOp::create(
          rewriter, op.getLoc(), type,
          centered(rewriter, op.getLoc(), operands->x, type.getElementType(),
                   operands->scale.zeroPoint),
          nn::makeConstant(rewriter, op.getW().getLoc(),
                           numbers->type.clone(type.getElementType()),
                           numbers->bytes),
          /*bias=*/Value(), op.getStrides(), pads, op.getDilations(),
          op.getGroups(), op.getChannelsLast(), /*x_zero_point=*/0);
      operands->scale.zeroPoint = 0;
      rewriter.replaceOp(op, dequantizeSums(rewriter, op.getLoc(), type,
                                            {sums, dim, {}, {}}, *operands,
                                            /*isPadded=*/true));
      ++count;
      return success();
    }
    ArrayRef<int64_t> shape = operands->weights.type.getShape();
    if (support::hasSingleChannels(op) &&
        !areSumsExact(operands->weights.bytes, shape[0]))
      return rewriter.notifyMatchFailure(
          op, "has single channels whose sums f32 does not hold");
    if (!operands->weights.offsets.empty() && op.getGroups() != 1)
      return rewriter.notifyMatchFailure(
          op, "has groups whose weights are not signed bytes");
    // Pad here if the zero point is computed at run time, because the
    // convolution op takes only a constant zero point.
    if (operands->computed)
      std::tie(operands->x, pads) = support::padWithZeroPoint(
          rewriter, op.getLoc(), operands->x, operands->computed.getZeroPoint(),
          pads, op.getChannelsLast());
    bool isPadded = llvm::any_of(pads, [](int64_t p) { return p != 0; });
    Value dataSums;
    if (!operands->weights.offsets.empty())
      dataSums = sumWindows(rewriter, op, operands->x,
                            operands->scale.zeroPoint);
    auto sums = nn::ConvOp::create(
        rewriter, op.getLoc(), type.clone(rewriter.getI32Type()), operands->x,
        makeBytes(rewriter, op.getW().getLoc(), operands->weights),
        /*bias=*/Value(), op.getStrides(), pads, op.getDilations(),
        op.getGroups(), op.getChannelsLast(),
        isPadded && !operands->computed ? operands->scale.zeroPoint : 0);
    SmallVector<Value> data;
    for (const auto &remainder : operands->weights.remainders)
      data.push_back(support::dataAt(rewriter, sums, remainder.first));
    rewriter.replaceOp(op, dequantizeSums(rewriter, op.getLoc(), type,
                                          {sums, dim, dataSums, data},
                                          *operands, isPadded));
    ++count;
    return success();
  }
};

/// Quantizes a transposed convolution. The kernel must subtract the zero point
/// itself. The weights that contribute to a pixel depend on the padding and on
/// the pixel's phase, so the zero-point term is not one constant.
struct QuantizeConvTranspose : QuantizeProduct<nn::ConvTransposeOp> {
  using QuantizeProduct::QuantizeProduct;

  LogicalResult matchAndRewrite(nn::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override {
    int64_t groups = op.getGroups();
    if (support::hasSingleChannels(op))
      return rewriter.notifyMatchFailure(op, "has groups of one channel");
    StringRef reason;
    std::optional<Operands> operands = readOperands(
        rewriter, op, {op.getX(), op.getW(), 1, op.getBias(), groups},
        {/*offsets=*/groups == 1}, reason);
    if (!operands)
      return rewriter.notifyMatchFailure(op, reason);
    if (operands->computed)
      return rewriter.notifyMatchFailure(
          op, "has a zero point that only a run knows");
    RankedTensorType type = op.getType();
    Value dataSums;
    if (!operands->weights.offsets.empty())
      dataSums = sumWindows(rewriter, op, operands->x,
                            operands->scale.zeroPoint);
    Value sums = nn::ConvTransposeOp::create(
        rewriter, op.getLoc(), type.clone(rewriter.getI32Type()), operands->x,
        makeBytes(rewriter, op.getW().getLoc(), operands->weights),
        /*bias=*/Value(), op.getStrides(), op.getPads(), op.getDilations(),
        op.getOutputPadding(), groups, op.getChannelsLast(),
        operands->scale.zeroPoint);
    int64_t dim = op.getChannelsLast() ? type.getRank() - 1 : 1;
    rewriter.replaceOp(op, dequantizeSums(rewriter, op.getLoc(), type,
                                          {sums, dim, dataSums, {}}, *operands,
                                          /*isPadded=*/true));
    ++count;
    return success();
  }
};

struct QuantizeMatMul : QuantizeProduct<nn::MatMulOp> {
  using QuantizeProduct::QuantizeProduct;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getTransposeA() ||
        (typeOf(op.getB()).getRank() != 2 && !hasMatrixPerBatch(op)))
      return rewriter.notifyMatchFailure(op, "has no matrix of weights");
    StringRef reason;
    std::optional<Operands> operands = readOperands(
        rewriter, op, {op.getA(), op.getB(), weightsAxis(op), op.getBias()},
        {/*offsets=*/true}, reason);
    if (!operands)
      return rewriter.notifyMatchFailure(op, reason);
    RankedTensorType type = op.getType();
    Value dataSums;
    if (!operands->weights.offsets.empty())
      dataSums = sumRows(rewriter, op.getLoc(), operands->x,
                         typeOf(op.getB()).getDimSize(termsAxis(op)),
                         operands->scale.zeroPoint);
    Value sums = nn::MatMulOp::create(
        rewriter, op.getLoc(), type.clone(rewriter.getI32Type()), operands->x,
        makeBytes(rewriter, op.getB().getLoc(), operands->weights),
        /*bias=*/Value(), /*transpose_a=*/false, op.getTransposeB());
    SmallVector<Value> data;
    for (const auto &remainder : operands->weights.remainders)
      data.push_back(support::columnOf(rewriter, op.getLoc(), operands->x,
                                       remainder.first.channel));
    rewriter.replaceOp(
        op, dequantizeSums(rewriter, op.getLoc(), type,
                           {sums, type.getRank() - 1, dataSums, data},
                           *operands, /*isPadded=*/false));
    ++count;
    return success();
  }
};

struct QuantizeProductsPass
    : ingot::impl::QuantizeProductsBase<QuantizeProductsPass> {
  using QuantizeProductsBase::QuantizeProductsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<QuantizeConv, QuantizeConvTranspose, QuantizeMatMul>(
        &getContext(), numProducts);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    eraseUnread(getOperation());
  }
};

} // namespace
