//===- PackWeights.cpp - nn-pack-weights ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Policy.h"
#include "passes/quantize/form/Passes.h"
#include "passes/support/PackedCodes.h"
#include "passes/support/PackedRange.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

namespace ingot {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

/// The order of the elements of a matrix that may be transposed.
struct Order {
  bool isTransposed;
  int64_t outputs, inner;

  int64_t at(int64_t output, int64_t k) const {
    return isTransposed ? output * inner + k : k * outputs + output;
  }
};

/// Constant integers of a matrix, with a scale and a zero point for each block
/// of `size` elements along the inner dimension.
struct Blocks {
  Order elements;
  int64_t size;
  SmallVector<int64_t> numbers;
  std::vector<double> scales;
  SmallVector<int64_t> zeros;

  int64_t columns() const { return elements.outputs; }
  int64_t depth() const { return elements.inner; }
  int64_t perColumn() const { return llvm::divideCeil(depth(), size); }
  Order blocks() const {
    return {elements.isTransposed, columns(), perColumn()};
  }
};

/// Unsigned codes with `bits` bits. The value of a weight is its code plus
/// `least`.
struct Codes {
  int64_t least, bits;
};

struct PackMatMul : OpRewritePattern<nn::MatMulOp> {
  PackMatMul(MLIRContext *context, int64_t allWeights, int64_t least,
             Pass::Statistic &count)
      : OpRewritePattern(context), allWeights(allWeights), least(least),
        count(count) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;
  /// The number of weights with one scale, or one for each output, and the
  /// fewest that are packed. The device's policy chooses a negative number.
  int64_t allWeights, least;
  Pass::Statistic &count;
};

struct PackWeightsPass : ingot::impl::PackWeightsBase<PackWeightsPass> {
  using PackWeightsBase::PackWeightsBase;

  void runOnOperation() override {
    int64_t weights = 0;
    getOperation()->walk([&](nn::MatMulOp op) {
      if (op.getB().getDefiningOp<nn::DequantizeOp>() &&
          typeOf(op.getB()).hasStaticShape())
        weights += typeOf(op.getB()).getNumElements();
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<PackMatMul>(&getContext(), weights, least, numPacked);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace

/// Reads the integer weights that `value` dequantizes. Returns nullopt and sets
/// `reason` if `value` has another form.
static std::optional<Blocks> readBlocks(Value value, bool isTransposed,
                                        StringRef &reason) {
  auto blocks = value.getDefiningOp<nn::DequantizeBlocksOp>();
  auto whole = value.getDefiningOp<nn::DequantizeOp>();
  RankedTensorType type = typeOf(value);
  if ((!blocks && !whole) || type.getRank() != 2 || !type.hasStaticShape() ||
      type.getNumElements() == 0) {
    reason = "has no matrix of integers";
    return std::nullopt;
  }
  const int64_t inner = isTransposed ? 1 : 0;
  const int64_t depth = type.getDimSize(inner);
  Value x = blocks ? blocks.getX() : whole.getX();
  Value scale = blocks ? blocks.getScale() : whole.getScale();
  Value zero = blocks ? blocks.getZeroPoint() : whole.getZeroPoint();
  const int64_t axis = blocks ? blocks.getAxis() : whole.getAxis();
  if (axis != (blocks ? inner : 1 - inner) &&
      (blocks || typeOf(scale).getNumElements() != 1)) {
    reason = "has scales along another dimension";
    return std::nullopt;
  }
  auto numbers = nn::getConstantInts(x);
  auto scales = nn::getConstantDoubles(scale);
  std::optional<SmallVector<int64_t>> zeros = SmallVector<int64_t>{0};
  if (zero)
    zeros = nn::getConstantInts(zero);
  if (!numbers || !scales || !zeros) {
    reason = "has weights that are computed or not integers";
    return std::nullopt;
  }
  Blocks result{{isTransposed, type.getDimSize(1 - inner), depth},
                blocks ? std::min<int64_t>(blocks.getBlockSize(), depth)
                       : depth,
                std::move(*numbers),
                std::move(*scales),
                std::move(*zeros)};
  // Repeat a scale or zero point that all blocks share.
  const size_t count = result.columns() * result.perColumn();
  if (result.scales.size() == 1)
    result.scales.resize(count, result.scales.front());
  if (result.zeros.size() == 1)
    result.zeros.resize(count, result.zeros.front());
  return result;
}

/// Chooses the fewest bits that hold all integers and zero points. Returns
/// nullopt if more than 8 are needed. Ternary weights in int8 need two bits.
static std::optional<Codes> chooseCodes(const Blocks &blocks) {
  auto [least, most] =
      std::minmax_element(blocks.numbers.begin(), blocks.numbers.end());
  auto [leastZero, mostZero] =
      std::minmax_element(blocks.zeros.begin(), blocks.zeros.end());
  const int64_t low = std::min(*least, *leastZero),
                high = std::max(*most, *mostZero);
  for (int64_t bits : {2, 4, 8})
    if (high - low < int64_t(1) << bits)
      return Codes{low, bits};
  return std::nullopt;
}

LogicalResult PackMatMul::matchAndRewrite(nn::MatMulOp op,
                                          PatternRewriter &rewriter) const {
  if (!op.getType().getElementType().isF32() || op.getTransposeA())
    return rewriter.notifyMatchFailure(op, "is not a product of rows of f32");
  StringRef reason;
  std::optional<Blocks> weights =
      readBlocks(op.getB(), op.getTransposeB(), reason);
  if (!weights)
    return rewriter.notifyMatchFailure(op, reason);
  if (!support::fitPackedScales(weights->scales))
    return rewriter.notifyMatchFailure(
        op, "has scales with which packed products leave the range of f32");
  std::optional<Codes> chosen = chooseCodes(*weights);
  if (!chosen)
    return rewriter.notifyMatchFailure(op, "has weights of more than 8 bits");
  const auto [lowest, bits] = *chosen;
  const int64_t block = weights->size, blocks = weights->perColumn();
  if (blocks > 1 && block % (32 / bits) != 0)
    return rewriter.notifyMatchFailure(
        op, "has blocks that do not fill 32-bit words");
  // Weights in blocks have no other form that is as fast.
  if (op.getB().getDefiningOp<nn::DequantizeOp>()) {
    Answer<bool> answer = Policy::of(op).packWeights(
        op, {bits, allWeights, least, /*areIntegers=*/true});
    if (!record(op, Question::precision, answer, "int" + std::to_string(bits),
                "float32"))
      return rewriter.notifyMatchFailure(op, answer.reason);
  }

  const int64_t columns = weights->columns();
  const int64_t bytes = llvm::divideCeil(block, 8 / bits);
  const Order perBlock = weights->blocks();
  std::vector<char> codes(columns * blocks * bytes, 0);
  std::vector<double> factors(columns * blocks), points(columns * blocks);
  for (int64_t column = 0; column < columns; ++column) {
    for (int64_t at = 0; at < blocks; ++at) {
      int64_t from = perBlock.at(column, at);
      factors[column * blocks + at] = weights->scales[from];
      points[column * blocks + at] = double(weights->zeros[from] - lowest);
    }
    for (int64_t k = 0; k < weights->depth(); ++k) {
      auto code =
          unsigned(weights->numbers[weights->elements.at(column, k)] - lowest);
      support::writeCode(&codes[(column * blocks + k / block) * bytes],
                         k % block, bits, code);
    }
  }
  Location loc = op.getLoc();
  Type byte = IntegerType::get(getContext(), 8, IntegerType::Unsigned);
  auto codesType = RankedTensorType::get({columns, blocks, bytes}, byte);
  Value packed = arith::ConstantOp::create(
      rewriter, loc, nn::makeConstantAttr(codesType, std::move(codes)));
  auto each = RankedTensorType::get({columns, blocks}, rewriter.getF32Type());
  Value y = nn::PackedMatMulOp::create(
      rewriter, loc, op.getType(), op.getA(), packed,
      nn::makeConstant(rewriter, loc, each, factors),
      nn::makeConstant(rewriter, loc, each.clone(byte), points), bits, block,
      weights->depth());
  if (Value bias = op.getBias())
    y = nn::AddOp::create(rewriter, loc, op.getType(), y, bias);
  rewriter.replaceOp(op, y);
  ++count;
  return success();
}
