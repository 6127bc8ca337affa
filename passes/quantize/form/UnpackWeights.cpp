//===- UnpackWeights.cpp - nn-unpack-weights ------------------------------===//
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
#include "passes/support/Rewrite.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

namespace ingot {
#define GEN_PASS_DEF_UNPACKWEIGHTS
#include "passes/quantize/form/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

/// Returns the weights of `op` as a constant matrix of f32 with a row for each
/// k. Returns null if a run computes them.
static Value createMatrix(OpBuilder &builder, nn::PackedMatMulOp op) {
  ElementsAttr attr = nn::getConstant(op.getCodes());
  std::vector<char> storage;
  std::optional<ArrayRef<char>> codes =
      attr ? nn::getRawBytes(attr, storage) : std::nullopt;
  auto scales = nn::getConstantDoubles(op.getScales());
  auto zeros = op.getZeroPoints() ? nn::getConstantDoubles(op.getZeroPoints())
                                  : std::nullopt;
  if (!codes || !scales || (op.getZeroPoints() && !zeros))
    return {};
  ArrayRef<int64_t> shape = typeOf(op.getCodes()).getShape();
  const int64_t columns = shape[0], blocks = shape[1], bytes = shape[2];
  const int64_t bits = op.getBits(), depth = op.getDepth();
  const int64_t block = std::min<int64_t>(op.getBlockSize(), depth);
  const double middle = double(1 << (bits - 1));
  std::vector<double> numbers(depth * columns);
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t at = column * blocks + k / block;
      const unsigned code =
          support::readCode(&(*codes)[at * bytes], k % block, bits);
      const double zero = zeros ? (*zeros)[at] : middle;
      // The format subtracts and multiplies in f32.
      numbers[k * columns + column] =
          float(double(code) - zero) * float((*scales)[at]);
    }
  return nn::makeConstant(
      builder, op.getCodes().getLoc(),
      RankedTensorType::get({depth, columns}, builder.getF32Type()), numbers);
}

namespace {

struct MultiplyFloats : OpRewritePattern<nn::PackedMatMulOp> {
  MultiplyFloats(MLIRContext *context, int64_t allWeights, OptimizeFor goal,
                 Pass::Statistic &count)
      : OpRewritePattern(context), allWeights(allWeights), goal(goal),
        count(count) {}

  LogicalResult matchAndRewrite(nn::PackedMatMulOp op,
                                PatternRewriter &rewriter) const override {
    Answer<bool> answer = Policy::of(op).unpackWeights(op, allWeights, goal);
    if (!record(op, Question::precision, answer, "float32",
                "int" + std::to_string(op.getBits())))
      return rewriter.notifyMatchFailure(op, answer.reason);
    Value matrix = createMatrix(rewriter, op);
    if (!matrix)
      return rewriter.notifyMatchFailure(op, "has weights that a run computes");
    rewriter.replaceOpWithNewOp<nn::MatMulOp>(
        op, op.getY().getType(), op.getA(), matrix, /*bias=*/Value(),
        /*transpose_a=*/false, /*transpose_b=*/false);
    ++count;
    return success();
  }
  /// The number of weights of all products that may be unpacked.
  int64_t allWeights;
  OptimizeFor goal;
  Pass::Statistic &count;
};

struct UnpackWeightsPass : ingot::impl::UnpackWeightsBase<UnpackWeightsPass> {
  using UnpackWeightsBase::UnpackWeightsBase;

  void runOnOperation() override {
    int64_t weights = 0;
    getOperation()->walk([&](nn::PackedMatMulOp op) {
      weights += typeOf(op.getCodes()).getDimSize(0) * int64_t(op.getDepth());
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<MultiplyFloats>(&getContext(), weights, optimize, numUnpacked);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }
};

} // namespace
