//===- SignsToThresholds.cpp - signs-to-thresholds ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of signs has few possible sums, all of them known. This pass
// evaluates the epilogue for each sum as a run would, channel by channel. If
// the results are monotonic in the sums, two thresholds separate -1, 0 and 1.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Signs.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/ScalarProgram.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/support/Reason.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_SIGNSTOTHRESHOLDS
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;
using support::typeOf;

/// The maximum number of sums to try, which takes a few seconds. Known networks
/// have fewer.
static constexpr int64_t kMaxSums = int64_t(1) << 28;

namespace {

/// The thresholds of each channel. Bit u is set for sums below `low`, bit v for
/// sums below `high`. `flip` is 0, or -1 to compare the complement of the sum
/// instead of the sum.
struct Thresholds {
  std::vector<double> low, high, flip;

  bool hasZeros() const { return low != high; }
  bool hasFlips() const {
    return llvm::any_of(flip, [](double flip) { return flip != 0; });
  }
};

/// The results of an epilogue for all sums from -`most` to `most`.
class Results {
public:
  Results(kernel::EpilogueOpInterface op, int64_t most) : op(op), most(most) {}

  /// Prepares the region and its operands, or says why it cannot.
  Reason prepare();
  /// Adds the thresholds of the next channel, or says why it has none.
  Reason addThresholds(int64_t channel, int64_t zeroPoint,
                       Thresholds &thresholds);

private:
  kernel::EpilogueOpInterface op;
  int64_t most;
  std::optional<nn::ScalarProgram> program;
  std::vector<std::vector<double>> operands;
};

} // namespace

/// Returns the elements of a constant, one for each channel or a single one for
/// all channels.
static std::optional<std::vector<double>> readOperand(Value operand) {
  ArrayRef<int64_t> shape = typeOf(operand).getShape();
  if (llvm::any_of(shape.drop_back(), [](int64_t size) { return size != 1; }))
    return std::nullopt;
  if (auto expand = operand.getDefiningOp<tensor::ExpandShapeOp>())
    operand = expand.getSrc();
  return nn::getConstantDoubles(operand);
}

/// Returns true if a run computes the op exactly, or rounds it as IEEE 754
/// prescribes.
static bool isExact(Operation &op) {
  if (isa<arith::ArithDialect>(op.getDialect()))
    return !isa<arith::RemFOp>(op);
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
             math::RoundEvenOp, math::SqrtOp>(op);
}

Reason Results::prepare() {
  Block &body = op.getEpilogue().front();
  for (Value operand : op.getEpilogueOperands()) {
    auto elements = readOperand(operand);
    if (!elements)
      return "has an operand that is not a constant for each channel";
    operands.push_back(std::move(*elements));
  }
  if (!llvm::all_of(body.without_terminator(), isExact))
    return "has results that a run approximates";
  program = nn::ScalarProgram::create(body,
                                      body.getTerminator()->getOperand(0),
                                      nn::ScalarProgram::kMaxLanes);
  if (!program)
    return "has an epilogue of ops that are not known";
  return std::nullopt;
}

Reason Results::addThresholds(int64_t channel, int64_t zeroPoint,
                              Thresholds &thresholds) {
  constexpr int64_t kLanes = nn::ScalarProgram::kMaxLanes;
  Block &body = op.getEpilogue().front();
  for (auto [i, elements] : llvm::enumerate(operands)) {
    double element = elements[elements.size() == 1 ? 0 : channel];
    bool isFloat = isa<FloatType>(body.getArgument(i + 1).getType());
    nn::Lane lane;
    isFloat ? void(lane.f = element) : void(lane.i = int64_t(element));
    std::fill_n(program->argument(i + 1), kLanes, lane);
  }
  // The first sums at which results exceed -1 and 0, or stop exceeding them.
  int64_t above[] = {most + 1, most + 1}, below[] = {most + 1, most + 1};
  int64_t before = 0;
  bool grows = false, falls = false;
  for (int64_t first = -most; first <= most; first += kLanes) {
    int64_t count = std::min(kLanes, most + 1 - first);
    for (int64_t i = 0; i < count; ++i)
      program->argument(0)[i].i = first + i;
    const nn::Lane *results = program->run(count);
    if (!results)
      return "has results that depend on the machine";
    for (int64_t i = 0; i < count; ++i) {
      int64_t sum = first + i;
      int64_t sign = int64_t(uint8_t(results[i].i)) - zeroPoint;
      if (sign < -1 || sign > 1)
        return "has results other than -1, 0 and 1";
      for (int64_t plane : {0, 1}) {
        int64_t &at = sign >= plane ? above[plane] : below[plane];
        at = std::min(at, sum);
      }
      grows |= sum != -most && sign > before;
      falls |= sum != -most && sign < before;
      before = sign;
    }
  }
  if (grows && falls)
    return "has signs that neither grow nor fall with the sum";
  // Compares complements if results fall: a sum is at least s if its complement
  // is below -s.
  thresholds.flip.push_back(falls ? -1 : 0);
  thresholds.low.push_back(double(falls ? -below[0] : above[0]));
  thresholds.high.push_back(double(falls ? -below[1] : above[1]));
  return std::nullopt;
}

/// Finds the thresholds of the product `op`, or says why there are none.
/// `zeroPoint` is the result byte that represents 0. A sum has at most `terms`
/// products.
static Reason findThresholds(kernel::EpilogueOpInterface op, int64_t terms,
                             int64_t zeroPoint, Thresholds &thresholds) {
  int64_t channels = typeOf(op->getResult(0)).getShape().back();
  if (2 * terms + 1 > kMaxSums / std::max<int64_t>(channels, 1))
    return "has too many sums to try";
  Results results(op, terms);
  if (Reason reason = results.prepare())
    return reason;
  for (int64_t channel = 0; channel < channels; ++channel)
    if (Reason reason =
            results.addThresholds(channel, zeroPoint, thresholds))
      return reason;
  return std::nullopt;
}

/// Returns the product of signs that computes `value`, or null if there is
/// none. Sets `terms` to the number of products that are added up for an
/// element.
static kernel::EpilogueOpInterface getProduct(Value value, int64_t &terms) {
  Operation *op = value.getDefiningOp();
  if (auto conv = dyn_cast_or_null<cpu::ConvOp>(op)) {
    if (!conv.getFormat().isSigns() || conv.getDstSigns())
      return {};
    cpu::PackedWeights weights(conv.getWeights());
    terms = conv.getFormat().getSignChannels() *
            support::productOf(weights.outer.drop_front());
    return conv;
  }
  if (auto product = dyn_cast_or_null<cpu::MatMulOp>(op)) {
    if (!product.getFormat().isSigns() || product.getDstSigns())
      return {};
    terms = product.getFormat().getSignChannels();
    return product;
  }
  return {};
}

/// Makes the product compare its sums with the thresholds, and store `words`
/// words for each pixel.
static void compareSums(PatternRewriter &rewriter,
                        kernel::EpilogueOpInterface op,
                        const Thresholds &thresholds, int64_t words) {
  Location loc = op->getLoc();
  RankedTensorType type = typeOf(op->getResult(0));
  int64_t rank = type.getRank(), channels = type.getShape().back();
  Type word = rewriter.getI32Type();
  rewriter.setInsertionPoint(op);
  SmallVector<int64_t> perChannel(rank, 1);
  perChannel.back() = channels;
  auto addOperand = [&](ArrayRef<double> elements) -> Value {
    return nn::makeConstant(rewriter, loc,
                            RankedTensorType::get(perChannel, word), elements);
  };
  SmallVector<Value> operands = {addOperand(thresholds.low)};
  if (thresholds.hasZeros())
    operands.push_back(addOperand(thresholds.high));
  if (thresholds.hasFlips())
    operands.push_back(addOperand(thresholds.flip));
  OpOperand &dst = *cast<DestinationStyleOpInterface>(*op).getDpsInitOperand(0);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, dst.get());
  sizes.back() = rewriter.getIndexAttr(words);
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, word);

  rewriter.modifyOpInPlace(op, [&] {
    op.getEpilogueOperandsMutable().assign(operands);
    cast<DestinationStyleOpInterface>(*op).getDpsInitOperand(0)->set(empty);
    op->getResult(0).setType(typeOf(empty));
    IntegerAttr signs = rewriter.getI64IntegerAttr(channels);
    if (auto conv = dyn_cast<cpu::ConvOp>(*op))
      conv.setDstSignsAttr(signs);
    else
      cast<cpu::MatMulOp>(*op).setDstSignsAttr(signs);
    rewriter.eraseBlock(&op.getEpilogue().front());
    SmallVector<Type> types(operands.size() + 1, word);
    Block *body = rewriter.createBlock(
        &op.getEpilogue(), {}, types, SmallVector<Location>(types.size(), loc));
    Value sum = body->getArgument(0);
    if (thresholds.hasFlips())
      sum = arith::XOrIOp::create(rewriter, loc, sum,
                                  body->getArguments().back());
    SmallVector<Value> signsOf;
    for (int64_t plane = 0; plane < (thresholds.hasZeros() ? 2 : 1); ++plane)
      signsOf.push_back(
          arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::slt, sum,
                                body->getArgument(1 + plane)));
    cpu::YieldOp::create(rewriter, loc, signsOf);
  });
}

/// Returns the packed bytes before the cast that drops their sign.
static Value sourceOf(cpu::PackSignsOp op) {
  auto cast = op.getSrc().getDefiningOp<nn::CastOp>();
  return cast ? cast.getX() : op.getSrc();
}

/// Returns true if only `op` reads the elements of `value`. Other ops may still
/// query its sizes.
static bool isReadBy(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op || isa<tensor::DimOp>(user);
  });
}

namespace {

struct ToThresholds : OpRewritePattern<cpu::PackSignsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(cpu::PackSignsOp op,
                                PatternRewriter &rewriter) const override {
    int64_t terms = 0;
    Value bytes = op.getSrc(), source = sourceOf(op);
    kernel::EpilogueOpInterface product = getProduct(source, terms);
    if (!product)
      return rewriter.notifyMatchFailure(
          op, "does not pack the result of a product of signs");
    Operation *reader = source == bytes ? op : bytes.getDefiningOp();
    if (!isReadBy(bytes, op) || !isReadBy(source, reader))
      return rewriter.notifyMatchFailure(
          op, "packs bytes that other ops read, too");
    if (!isa<RankedTensorType>(op.getDst().getType()))
      return rewriter.notifyMatchFailure(op, "is on memrefs");
    Thresholds thresholds;
    if (Reason reason =
            findThresholds(product, terms, op.getZeroPoint(), thresholds))
      return rewriter.notifyMatchFailure(op, *reason);
    int64_t channels = typeOf(source).getShape().back();
    rewriter.replaceUsesWithIf(bytes, source, [&](OpOperand &use) {
      return use.getOwner() != op;
    });
    compareSums(rewriter, product, thresholds,
                thresholds.hasZeros() ? cpu::pixelWords(channels)
                                      : cpu::signWords(channels));
    // Does not cast the result, because products read words with and without
    // zeros.
    rewriter.replaceOp(op, product->getResult(0));
    return success();
  }
};

struct SignsToThresholdsPass
    : ingot::impl::SignsToThresholdsBase<SignsToThresholdsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ToThresholds>(&getContext());
    rewriteInOneWalk(getOperation(), std::move(patterns));
    // Erase the casts that dropped the sign of replaced bytes.
    getOperation()->walk([](nn::CastOp cast) {
      if (cast->use_empty())
        cast.erase();
    });
  }
};

} // namespace
