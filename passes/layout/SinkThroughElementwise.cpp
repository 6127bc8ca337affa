//===- SinkThroughElementwise.cpp - transposes behind elementwise ops -----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Evaluate.h"
#include "passes/layout/Sink.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;

//===----------------------------------------------------------------------===//
// Common to all sinking
//===----------------------------------------------------------------------===//

/// The largest constant that is transposed here, in elements.
static constexpr int64_t kMaxConstant = int64_t(1) << 24;

Value layout::transposed(PatternRewriter &rewriter, Location loc, Value value,
                         ArrayRef<int64_t> perm) {
  if (isIdentity(perm))
    return value;
  if (nn::TransposeOp inner = transposeOf(value)) {
    Perm composed = permute(inner.getPerm(), perm);
    if (isIdentity(composed))
      return inner.getX();
    return nn::TransposeOp::create(rewriter, loc,
                                   permute(typeOf(value), perm), inner.getX(),
                                   composed);
  }
  RankedTensorType type = permute(typeOf(value), perm);
  auto result = nn::TransposeOp::create(rewriter, loc, type, value, perm);
  if (nn::getConstant(value)) {
    if (ElementsAttr attr = nn::evaluate(result, kMaxConstant)) {
      rewriter.eraseOp(result);
      return arith::ConstantOp::create(rewriter, loc, type, attr);
    }
  }
  return result;
}

Perm layout::commonPerm(ArrayRef<Value> operands) {
  // Transposes taken away less those added: first of those that move data, then
  // of those that do not. What a sinking pattern adds on the other operands is
  // the inverse, for which the gain has the other sign: they never go back.
  using Gain = std::pair<int64_t, int64_t>;
  Perm best;
  Gain bestGain(0, 0);
  for (Value operand : operands) {
    // A transpose that costs nothing is not worth moving: two of them would
    // chase each other for ever.
    nn::TransposeOp candidate = transposeOf(operand);
    if (!candidate || isFree(candidate.getX(), candidate.getPerm()))
      continue;
    Perm perm(candidate.getPerm()), undo = inverse(perm);
    Gain gain(0, 0);
    for (Value other : operands) {
      nn::TransposeOp transpose = transposeOf(other);
      bool same = transpose && llvm::equal(transpose.getPerm(), perm);
      if (!same && nn::getConstant(other))
        continue;
      bool moves = !keepsOrder(typeOf(other).getShape(), undo);
      (moves ? gain.first : gain.second) += same ? 1 : -1;
    }
    if (gain > bestGain) {
      best = perm;
      bestGain = gain;
    }
  }
  return best;
}

Operation *layout::replaceTransposed(PatternRewriter &rewriter, Operation *op,
                                     ValueRange operands,
                                     ArrayRef<int64_t> perm) {
  Perm undo = inverse(perm);
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(permute(cast<RankedTensorType>(type), undo));
  Operation *sunk = rewriter.create(op->getLoc(), op->getName().getIdentifier(),
                                    operands, types, op->getAttrs());
  SmallVector<Value> results;
  for (auto [type, result] :
       llvm::zip_equal(op->getResultTypes(), sunk->getResults()))
    results.push_back(nn::TransposeOp::create(rewriter, op->getLoc(), type,
                                              result, perm));
  rewriter.replaceOp(op, results);
  return sunk;
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {

struct SinkThroughElementwise : RewritePattern {
  SinkThroughElementwise(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!op->hasTrait<nn::Elementwise>())
      return failure();
    int64_t rank = typeOf(op->getResult(0)).getRank();
    SmallVector<Value> whole;
    for (Value operand : op->getOperands())
      if (typeOf(operand).getRank() == rank)
        whole.push_back(operand);
    Perm perm = commonPerm(whole);
    if (perm.empty())
      return failure();
    Perm undo = inverse(perm);
    // Operands of lower rank broadcast from the left: that must not cost
    // anything either.
    for (Value operand : op->getOperands()) {
      RankedTensorType type = typeOf(operand);
      bool single = type.hasStaticShape() && type.getNumElements() == 1;
      if (type.getRank() < rank && !single && !nn::getConstant(operand))
        return failure();
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      RankedTensorType type = typeOf(operand);
      if (type.getRank() < rank) {
        if (type.hasStaticShape() && type.getNumElements() == 1) {
          operands.push_back(operand);
          continue;
        }
        operand = withRank(rewriter, operand, rank);
      }
      operands.push_back(transposed(rewriter, op->getLoc(), operand, undo));
    }
    replaceTransposed(rewriter, op, operands, perm);
    return success();
  }

  /// A constant with leading dimensions of 1.
  static Value withRank(PatternRewriter &rewriter, Value constant,
                        int64_t rank) {
    RankedTensorType type = typeOf(constant);
    SmallVector<int64_t> shape(rank - type.getRank(), 1);
    llvm::append_range(shape, type.getShape());
    auto expanded = RankedTensorType::get(shape, type.getElementType());
    ElementsAttr attr = nn::getConstant(constant);
    if (auto dense = dyn_cast<DenseElementsAttr>(attr))
      attr = dense.reshape(expanded);
    else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
      attr = DenseResourceElementsAttr::get(expanded, resource.getRawHandle());
    else
      return nn::ReshapeOp::create(rewriter, constant.getLoc(), expanded,
                                   constant);
    return arith::ConstantOp::create(rewriter, constant.getLoc(), expanded,
                                     attr);
  }
};

} // namespace

void layout::populateSinkThroughElementwise(RewritePatternSet &patterns) {
  patterns.add<SinkThroughElementwise>(patterns.getContext());
}
