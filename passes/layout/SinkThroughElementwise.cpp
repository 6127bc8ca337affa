//===- SinkThroughElementwise.cpp - transposes below elementwise ops ------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Evaluate.h"
#include "passes/layout/Sink.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::layout;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Functions shared by all patterns
//===----------------------------------------------------------------------===//

/// The largest constant to transpose at compile time, in elements.
static constexpr int64_t kMaxConstant = int64_t(1) << 24;

nn::TransposeOp layout::transposeFor(Operation *user, Value value) {
  nn::TransposeOp transpose = transposeOf(value);
  if (!transpose)
    return {};
  Region *home = transpose->getParentRegion();
  for (Region *at = user->getParentRegion(); at && at != home;
       at = at->getParentRegion())
    if (isa<LoopLikeOpInterface>(at->getParentOp()))
      return {};
  return transpose;
}

/// Returns the broadcast of a single element that computes `value`, or null.
/// Any permutation of such a value is the same broadcast.
static nn::BroadcastToOp filled(Value value) {
  auto fill = value.getDefiningOp<nn::BroadcastToOp>();
  if (!fill)
    return {};
  RankedTensorType from = typeOf(fill.getX());
  return from.hasStaticShape() && from.getNumElements() == 1
             ? fill
             : nn::BroadcastToOp();
}

/// Returns true if transposing `value` costs nothing: a constant, or a
/// broadcast of a single element.
static bool isFree(Value value) {
  return nn::getConstant(value) || filled(value);
}

/// Returns `type` with leading dimensions of 1 added up to `rank`.
static RankedTensorType withRank(RankedTensorType type, int64_t rank) {
  SmallVector<int64_t> shape(rank - type.getRank(), 1);
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

/// Returns `constant` with leading dimensions of 1 added up to `rank`.
static Value withRank(PatternRewriter &rewriter, Value constant, int64_t rank) {
  RankedTensorType expanded = withRank(typeOf(constant), rank);
  ElementsAttr attr = nn::getConstant(constant);
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    attr = dense.reshape(expanded);
  else if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    attr = DenseResourceElementsAttr::get(expanded, resource.getRawHandle());
  else
    return nn::ReshapeOp::create(rewriter, constant.getLoc(), expanded,
                                 constant);
  return arith::ConstantOp::create(rewriter, constant.getLoc(), expanded, attr);
}

/// Returns the elementwise op that computes `value` from constants and from
/// tensors whose elements `perm` leaves in order, or null. An example is the
/// product of a tensor of one channel and a constant for each channel. The op
/// can compute the transposed value without moving data.
static Operation *spreadFor(Value value, ArrayRef<int64_t> perm) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<nn::ElementwiseOpInterface>(op) || !value.hasOneUse())
    return nullptr;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = typeOf(operand);
    if (!nn::getConstant(operand) && (type.getRank() != int64_t(perm.size()) ||
                                      !support::followsFromCount(type) ||
                                      !keepsOrder(type.getShape(), perm)))
      return nullptr;
  }
  return op;
}

/// Creates `op` with the transposed result and operands.
static Value transposeSpread(PatternRewriter &rewriter, Operation *op,
                             ArrayRef<int64_t> perm) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (nn::getConstant(operand))
      operand = withRank(rewriter, operand, int64_t(perm.size()));
    operands.push_back(
        layout::transposed(rewriter, op->getLoc(), operand, perm));
  }
  return rewriter
      .create(op->getLoc(), op->getName().getIdentifier(), operands,
              {permute(typeOf(op->getResult(0)), perm)}, op->getAttrs())
      ->getResult(0);
}

Value layout::transposed(PatternRewriter &rewriter, Location loc, Value value,
                         ArrayRef<int64_t> perm) {
  RankedTensorType type = permute(typeOf(value), perm);
  if (nn::BroadcastToOp fill = filled(value)) {
    Perm open;
    int64_t numOpen = 0;
    for (int64_t size : typeOf(fill).getShape())
      open.push_back(ShapedType::isDynamic(size) ? numOpen++ : -1);
    SmallVector<Value> sizes;
    for (int64_t dim : perm)
      if (open[dim] >= 0)
        sizes.push_back(fill.getSizes()[open[dim]]);
    return nn::BroadcastToOp::create(rewriter, loc, type, fill.getX(), sizes);
  }
  if (Operation *spread = spreadFor(value, perm))
    return transposeSpread(rewriter, spread, perm);
  Perm composed(perm);
  if (nn::TransposeOp inner = transposeOf(value)) {
    composed = permute(inner.getPerm(), perm);
    value = inner.getX();
  }
  if (isIdentity(composed)) {
    // The two types may have different static dimensions.
    if (value.getType() != type)
      value = tensor::CastOp::create(rewriter, loc, type, value);
    return value;
  }
  auto result = nn::TransposeOp::create(rewriter, loc, type, value, composed);
  if (nn::getConstant(value)) {
    if (ElementsAttr attr = nn::evaluate(result, kMaxConstant)) {
      rewriter.eraseOp(result);
      return arith::ConstantOp::create(rewriter, loc, type, attr);
    }
  }
  return result;
}

Perm layout::commonPerm(Operation *op, ArrayRef<Value> operands) {
  // The number of removed transposes minus the number of added ones, as a pair.
  // The first number counts transposes that move data, the second counts the
  // others.
  using Gain = std::pair<int64_t, int64_t>;
  Perm best;
  Gain bestGain(0, 0);
  llvm::SmallDenseSet<Attribute> tried;
  for (Value operand : operands) {
    nn::TransposeOp candidate = transposeFor(op, operand);
    if (!candidate || !tried.insert(candidate.getPermAttr()).second)
      continue;
    Perm perm(candidate.getPerm()), undo = inverse(perm);
    Gain gain(0, 0);
    for (Value other : operands) {
      nn::TransposeOp transpose = transposeFor(op, other);
      bool same = transpose && llvm::equal(transpose.getPerm(), perm);
      if (!same && (isFree(other) || spreadFor(other, undo)))
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
  for (Value result : sunk->getResults())
    results.push_back(transposed(rewriter, op->getLoc(), result, perm));
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
    if (!isa<nn::ElementwiseOpInterface>(op))
      return rewriter.notifyMatchFailure(op, "is not elementwise");
    int64_t rank = typeOf(op->getResult(0)).getRank();
    SmallVector<Value> whole;
    for (Value operand : op->getOperands())
      if (typeOf(operand).getRank() == rank)
        whole.push_back(operand);
    Perm perm = commonPerm(op, whole);
    if (perm.empty())
      return rewriter.notifyMatchFailure(op, kNoCommonPerm);
    Perm undo = inverse(perm);
    // Operands of lower rank get leading dimensions of 1. Transposing them must
    // cost nothing either.
    auto isSingle = [](RankedTensorType type) {
      return type.hasStaticShape() && type.getNumElements() == 1;
    };
    for (Value operand : op->getOperands()) {
      RankedTensorType type = typeOf(operand);
      if (type.getRank() < rank && !isSingle(type) &&
          !nn::getConstant(operand) &&
          (type.getNumDynamicDims() > 1 ||
           !keepsOrder(withRank(type, rank).getShape(), undo)))
        return rewriter.notifyMatchFailure(
            op, "has an operand of lower rank that would have to move");
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      RankedTensorType type = typeOf(operand);
      if (type.getRank() < rank) {
        if (isSingle(type)) {
          operands.push_back(operand);
          continue;
        }
        if (!nn::getConstant(operand)) {
          operands.push_back(nn::ReshapeOp::create(
              rewriter, op->getLoc(), permute(withRank(type, rank), undo),
              operand));
          continue;
        }
        operand = withRank(rewriter, operand, rank);
      }
      operands.push_back(transposed(rewriter, op->getLoc(), operand, undo));
    }
    replaceTransposed(rewriter, op, operands, perm);
    return success();
  }
};

} // namespace

void layout::populateSinkThroughElementwise(RewritePatternSet &patterns) {
  patterns.add<SinkThroughElementwise>(patterns.getContext());
}
