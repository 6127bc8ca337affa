//===- ProductsToSigns.cpp - products-to-signs ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/Signs.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/NNToCpu.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Intervals.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_PRODUCTSTOSIGNS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

namespace {

/// The common properties of both kinds of products.
struct SignCandidate {
  Operation *op;
  Value data, weights;
  /// The dimensions of the weights for outputs and channels.
  int64_t outputs, channels;
  /// The byte value of padding; nullopt without padding.
  std::optional<int64_t> padding;
  /// The zero point that is already subtracted from the sums.
  int64_t zeroPoint = 0;
};

/// A product of signs.
struct Signs {
  int64_t zeroPoint;
  /// The signs of the weights, and the sum of signs for each output.
  std::vector<double> weights, sums;
};

} // namespace

/// Returns the middle one of the three bytes that the data may have; it
/// represents 0. Returns nullopt if the data may have other bytes.
static std::optional<int64_t> findZeroPoint(const support::Interval &bytes,
                                            const SignCandidate &product) {
  if (!bytes.isWithin(0, 255))
    return std::nullopt;
  int64_t zero = product.padding.value_or(
      std::min(int64_t(bytes.least) + 1, int64_t(bytes.most)));
  if (!bytes.isWithin(double(zero - 1), double(zero + 1)))
    return std::nullopt;
  return zero;
}

static Reason whyNotSigns(const SignCandidate &product) {
  if (Reason reason = cpu::whyNotToCpu(product.op))
    return reason;
  RankedTensorType weights = typeOf(product.weights);
  if (!typeOf(product.data).getElementType().isUnsignedInteger(8) ||
      !nn::getConstant(product.weights))
    return "does not multiply bytes by constants";
  int64_t channels = weights.getDimSize(product.channels);
  if (channels < cpu::threshold::signsFewestChannels)
    return "has few channels: " + std::to_string(channels);
  if (weights.getNumElements() / channels < cpu::threshold::signsFewestUses)
    return "reads each element for few products";
  return std::nullopt;
}

/// Returns the signs of a product's weights. All weights must have the same
/// magnitude.
static std::optional<Signs> readSigns(const SignCandidate &product,
                                      int64_t zeroPoint) {
  RankedTensorType type = typeOf(product.weights);
  auto bytes = nn::getConstantDoubles(product.weights);
  if (!bytes)
    return std::nullopt;
  int64_t outputs = type.getDimSize(product.outputs), inner = 1;
  for (int64_t size : type.getShape().drop_front(product.outputs + 1))
    inner *= size;
  Signs signs{zeroPoint, std::move(*bytes), std::vector<double>(outputs, 0)};
  for (auto [i, weight] : llvm::enumerate(signs.weights)) {
    if (weight != 1 && weight != -1)
      return std::nullopt;
    signs.sums[int64_t(i) / inner % outputs] += weight;
  }
  return signs;
}

/// Packs the signs of the weights into 32-bit words, which replace dimension
/// `channels`.
static ElementsAttr packWords(const SignCandidate &product,
                              const Signs &signs) {
  RankedTensorType type = typeOf(product.weights);
  int64_t channels = type.getDimSize(product.channels), inner = 1;
  for (int64_t size : type.getShape().drop_front(product.channels + 1))
    inner *= size;
  int64_t words = cpu::signWords(channels);
  int64_t outer = type.getNumElements() / channels / inner;
  std::vector<uint32_t> packed(outer * words * inner, 0);
  auto at = [&](int64_t o, int64_t word, int64_t i) -> uint32_t & {
    return packed[(o * words + word) * inner + i];
  };
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t c = 0; c < channels; ++c)
        if (signs.weights[(o * channels + c) * inner + i] < 0)
          at(o, c / cpu::kSignsOfWord, i) |= 1u << (c % cpu::kSignsOfWord);
      for (int64_t word = 1; word < words; word += 2)
        at(o, word, i) ^= at(o, word - 1, i);
    }
  SmallVector<int64_t> shape(type.getShape());
  shape[product.channels] = words;
  std::vector<char> bytes(packed.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), packed.data(), bytes.size());
  return nn::makeConstantAttr(
      RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32)),
      std::move(bytes));
}

/// Packs the data as bits.
static Value packData(PatternRewriter &rewriter, const SignCandidate &product,
                      int64_t zeroPoint) {
  // Products with the same data share the packed signs.
  for (Operation *user : product.data.getUsers())
    for (Operation *pack : user->getUsers())
      if (auto signs = dyn_cast<cpu::PackSignsOp>(pack))
        if (int64_t(signs.getZeroPoint()) == zeroPoint)
          return signs.getResult();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(product.data);
  Location loc = product.op->getLoc();
  RankedTensorType type = typeOf(product.data);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = cpu::pixelWords(shape.back());
  auto packed = RankedTensorType::get(shape, rewriter.getI32Type());
  Value destination = support::createEmpty(
      rewriter, loc, packed,
      support::dynamicSizesLike(rewriter, loc, packed, product.data));
  Value bytes = nn::CastOp::create(
      rewriter, loc, type.clone(rewriter.getI8Type()), product.data);
  auto pack = cpu::PackSignsOp::create(rewriter, loc, packed, bytes,
                                       /*epilogue_operands=*/ValueRange(),
                                       destination, zeroPoint,
                                       /*schedule=*/{});
  cpu::buildEpilogue(rewriter, loc, pack.getEpilogue(), packed.getElementType(),
                     /*hasBias=*/false);
  return pack.getResult();
}

/// Replaces the product by `kernel`, which sums values from -1 to 1. Adds the
/// contribution of the bytes' zero point to its sums.
static void replace(PatternRewriter &rewriter, const SignCandidate &product,
                    const Signs &signs, kernel::EpilogueOpInterface kernel) {
  Location loc = product.op->getLoc();
  Value sums = kernel->getResult(0);
  RankedTensorType type = typeOf(sums);
  cpu::buildEpilogue(rewriter, loc, kernel.getEpilogue(), type.getElementType(),
                     /*hasBias=*/false);
  int64_t more = signs.zeroPoint - product.zeroPoint;
  if (more != 0) {
    std::vector<double> each;
    for (double sum : signs.sums)
      each.push_back(double(more) * sum);
    Value constant = nn::makeConstant(
        rewriter, loc,
        RankedTensorType::get(int64_t(each.size()), type.getElementType()),
        each);
    sums = nn::AddOp::create(rewriter, loc, type, sums, constant);
  }
  rewriter.replaceOp(product.op, sums);
}

namespace {

/// The bounds of the bytes that each product reads.
using Intervals = llvm::DenseMap<Operation *, support::Interval>;

/// A pattern that turns a product into one of signs.
template <typename Op> struct ToSigns : OpRewritePattern<Op> {
  ToSigns(MLIRContext *context, const Intervals &intervals)
      : OpRewritePattern<Op>(context), intervals(intervals) {}

  /// Reads the product as one of signs, or says why it is not one.
  Reason read(const SignCandidate &product, std::optional<Signs> &signs) const {
    if (Reason reason = whyNotSigns(product))
      return reason;
    std::optional<int64_t> zero =
        findZeroPoint(intervals.lookup(product.op), product);
    if (!zero)
      return "has data that may have more than three different bytes";
    signs = readSigns(product, *zero);
    if (!signs)
      return "has weights other than 1 and -1";
    return std::nullopt;
  }

  const Intervals &intervals;
};

struct ConvToSigns : ToSigns<nn::ConvOp> {
  using ToSigns::ToSigns;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getGroups() != 1)
      return rewriter.notifyMatchFailure(op, "has groups");
    RankedTensorType x = typeOf(op.getX()), type = op.getType();
    int64_t rank = x.getRank();
    if (x.isDynamicDim(rank - 2) || type.isDynamicDim(rank - 2))
      return rewriter.notifyMatchFailure(op, "has rows of open size");
    int64_t zero = op.getXZeroPoint();
    SignCandidate product{op, op.getX(), op.getW(), 0, 1, std::nullopt, zero};
    if (llvm::any_of(op.getPads(), [](int64_t pad) { return pad != 0; }))
      product.padding = zero;
    std::optional<Signs> signs;
    if (Reason reason = read(product, signs))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    Value weights = arith::ConstantOp::create(
        rewriter, op.getW().getLoc(),
        cpu::packConvWeights(packWords(product, *signs), /*groups=*/1,
                             rewriter.getI32Type()));
    Value src = packData(rewriter, product, signs->zeroPoint);
    Value destination = support::destinationOf(rewriter, op->getResult(0));
    auto kernel = cpu::ConvOp::create(
        rewriter, loc, type, src, weights, /*compensation=*/Value(),
        /*pairs=*/Value(), /*epilogue_operands=*/ValueRange(), destination,
        op.getStrides(), op.getPads(), op.getDilations(), /*groups=*/1,
        /*src_zero_point=*/0,
        cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::signs,
                              x.getShape().back()),
        /*dst_signs=*/{},
        /*schedule=*/{});
    cpu::recordPacking(kernel);
    replace(rewriter, product, *signs, kernel);
    return success();
  }
};

struct MatMulToSigns : ToSigns<nn::MatMulOp> {
  using ToSigns::ToSigns;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    if (typeOf(op.getB()).getRank() != 2 || op.getTransposeA())
      return rewriter.notifyMatchFailure(op, "has no matrix of weights");
    RankedTensorType type = op.getType();
    bool isTransposed = op.getTransposeB();
    SignCandidate product{op,
                          op.getA(),
                          op.getB(),
                          isTransposed ? 0 : 1,
                          isTransposed ? 1 : 0,
                          std::nullopt};
    std::optional<Signs> signs;
    if (Reason reason = read(product, signs))
      return rewriter.notifyMatchFailure(op, *reason);
    Location loc = op.getLoc();
    Value weights = arith::ConstantOp::create(
        rewriter, op.getB().getLoc(),
        cpu::packMatMulWeights(packWords(product, *signs), isTransposed,
                               rewriter.getI32Type()));
    Value destination = support::createEmpty(
        rewriter, loc, type,
        support::dynamicSizesLike(rewriter, loc, type, op.getA()));
    auto kernel = cpu::MatMulOp::create(
        rewriter, loc, type, packData(rewriter, product, signs->zeroPoint),
        weights, /*blocks=*/Value(), /*pairs=*/Value(),
        /*epilogue_operands=*/ValueRange(), destination,
        cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::signs,
                              typeOf(op.getA()).getShape().back()),
        /*dst_signs=*/{}, /*schedule=*/{});
    cpu::recordPacking(kernel);
    replace(rewriter, product, *signs, kernel);
    return success();
  }
};

struct ProductsToSignsPass
    : ingot::impl::ProductsToSignsBase<ProductsToSignsPass> {
  void runOnOperation() override {
    // Runs the analysis before ops are replaced, because it does not know the
    // new ops.
    support::IntervalAnalysis analysis;
    Intervals intervals;
    getOperation()->walk([&](Operation *op) {
      if (isa<nn::ConvOp, nn::MatMulOp>(op))
        intervals[op] = analysis.intervalOf(op->getOperand(0));
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvToSigns, MatMulToSigns>(&getContext(), intervals);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
