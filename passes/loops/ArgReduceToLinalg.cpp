//===- ArgReduceToLinalg.cpp - nn.arg_reduce ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

using nn::ReduceKind;

Value support::isBetter(OpBuilder &b, Location loc, Value x, Value than,
                        const IntegerOrder &order, bool orEqual) {
  using P = arith::CmpIPredicate;
  const bool isMax = order.isMax;
  P predicate;
  if (order.isUnsigned)
    predicate =
        isMax ? (orEqual ? P::uge : P::ugt) : (orEqual ? P::ule : P::ult);
  else
    predicate =
        isMax ? (orEqual ? P::sge : P::sgt) : (orEqual ? P::sle : P::slt);
  return arith::CmpIOp::create(b, loc, predicate, x, than);
}

/// Returns the rank of the float `x`: a signed integer that is larger for a
/// better `x`. With `isMax`, larger numbers are better. Otherwise smaller
/// numbers are better. NaN is better than every number, and both zeros have one
/// rank. Ranks are used because in a loop one comparison of integers has less
/// latency than two comparisons of floats.
static Value rankOf(OpBuilder &b, Location loc, Value x, bool isMax) {
  auto type = cast<FloatType>(computeType(x.getType()));
  const unsigned width = type.getWidth();
  Type integer = b.getIntegerType(width);
  auto number = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(integer, value));
  };
  Value largest = number(APInt::getSignedMaxValue(width));
  x = convertScalar(b, loc, x, type, false, false);
  // Adding 0 turns -0 into 0.
  Value sum = arith::AddFOp::create(b, loc, x, scalar(b, loc, type, 0));
  Value bits = arith::BitcastOp::create(b, loc, integer, sum);
  // Flip the bits below the sign of a negative float, because these bits grow
  // as the float falls.
  Value sign = arith::ShRSIOp::create(b, loc, bits,
                                      number(APInt(width, width - 1)));
  Value rank = arith::XOrIOp::create(
      b, loc, bits, arith::AndIOp::create(b, loc, sign, largest));
  if (!isMax)
    rank = arith::XOrIOp::create(b, loc, rank,
                                 number(APInt::getAllOnes(width)));
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, loc, isNaN, largest, rank);
}

namespace {

/// The division of a long row into blocks of one length. The last block ends
/// with the row, and may overlap the block before it.
struct RowBlocks {
  OpFoldResult size, length, count;

  /// Returns the position of the first element of a block.
  Value startOf(OpBuilder &b, Location loc, Value block) const {
    Value last = arith::SubIOp::create(b, loc, indexValue(b, loc, size),
                                       indexValue(b, loc, length));
    Value start =
        arith::MulIOp::create(b, loc, block, indexValue(b, loc, length));
    return arith::MinSIOp::create(b, loc, start, last);
  }
};

/// Builds the loops of an arg_reduce.
class ArgReduction {
public:
  ArgReduction(nn::ArgReduceOp op, OpBuilder &b, Value x)
      : op(op), b(b), loc(op.getLoc()), from(typeOf(x)), x(x),
        axis(op.getAxis()), isMax(op.getKind() == ReduceKind::max),
        isUnsigned(support::isUnsigned(op.getX().getType())),
        hasRanks(isa<FloatType>(from.getElementType()) && !comparesFloats()) {}

  /// Returns the positions along the axis.
  Value reduce();

private:
  /// The best elements and their positions. A float may be held as its rank: an
  /// integer that is larger for larger floats.
  struct Best {
    Value element, at;
  };
  /// Returns true if the elements of a row are neighbours.
  bool isRows() const {
    return productOf(from.getShape().drop_front(axis + 1)) == 1;
  }
  /// Returns true if two comparisons of floats take less time than ranks. This
  /// is the case for vectors and for short rows, because many elements are then
  /// compared at a time.
  bool comparesFloats() {
    Type element = from.getElementType();
    if (isRows() || (!element.isF32() && !element.isF64()))
      return false;
    int64_t inner = productOf(from.getShape().drop_front(axis + 1)),
            size = from.getDimSize(axis);
    return ShapedType::isDynamic(inner) ||
           inner >= threshold::argReduceShortRow ||
           (!ShapedType::isDynamic(size) &&
            size <= threshold::argReduceShortRow);
  }
  Type bestElement() const {
    Type element = from.getElementType();
    return hasRanks ? b.getIntegerType(
                         computeType(element).getIntOrFloatBitWidth())
                   : element;
  }
  /// Returns the element that each other one replaces.
  Value worstElement(OpBuilder &b, Location loc) const {
    return extremum(b, loc, bestElement(), !hasRanks && !isMax,
                    !hasRanks && isUnsigned);
  }
  Best start(ArrayRef<int64_t> shape, ValueRange sizes);
  Value isBetter(OpBuilder &b, Value x, Value than, bool orEqual);
  Value reduceRows();
  Value elementAt(OpBuilder &b, Location loc, Value position);
  Value foldBlock(
      OpBuilder &b, Location loc, Value length, Value start,
      llvm::function_ref<Value(OpBuilder &, Location, Value, Value)> fold);
  Value extremumOf(OpBuilder &b, Location loc, Value first, Value length);
  Value placeOf(OpBuilder &b, Location loc, Value best, Value first,
                Value length);

  nn::ArgReduceOp op;
  OpBuilder &b;
  Location loc;
  RankedTensorType from;
  Value x;
  int64_t axis;
  /// Indices of the current result, while the body of its loops is built.
  SmallVector<Value> row;
  bool isMax, isUnsigned, hasRanks;
};

Value ArgReduction::isBetter(OpBuilder &b, Value x, Value than, bool orEqual) {
  if (!isa<FloatType>(x.getType()))
    return support::isBetter(
        b, loc, x, than, {hasRanks || isMax, !hasRanks && isUnsigned}, orEqual);
  using P = arith::CmpFPredicate;
  auto compare = [&](P predicate, Value left, Value right) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, left, right);
  };
  // With `orEqual`, a later NaN replaces an earlier NaN. Without `orEqual`,
  // nothing replaces the first NaN.
  if (orEqual)
    return arith::OrIOp::create(b, loc,
                                compare(isMax ? P::OGE : P::OLE, x, than),
                                compare(P::UNO, x, x));
  return arith::AndIOp::create(b, loc,
                               compare(isMax ? P::UGT : P::ULT, x, than),
                               compare(P::ORD, than, than));
}

ArgReduction::Best ArgReduction::start(ArrayRef<int64_t> shape,
                                       ValueRange sizes) {
  Type element = bestElement();
  Type i64 = b.getI64Type();
  return {createFilled(b, loc, RankedTensorType::get(shape, element),
                       worstElement(b, loc), sizes),
          createFilled(b, loc, RankedTensorType::get(shape, i64),
                       scalar(b, loc, i64, 0), sizes)};
}

Value ArgReduction::reduce() {
  if (isRows())
    return reduceRows();
  int64_t rank = from.getRank();
  SmallVector<int64_t> kept;
  RankedTensorType bestType = withoutDims(from, axis, kept);
  SmallVector<AffineExpr> exprs;
  for (int64_t d : kept)
    exprs.push_back(b.getAffineDimExpr(d));
  AffineMap out = AffineMap::get(rank, 0, exprs, b.getContext());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  Best best = start(bestType.getShape(), dynamicSizesOf(b, loc, x, kept));
  return linalg::GenericOp::create(
             b, loc, TypeRange{best.element.getType(), best.at.getType()}, x,
             ValueRange{best.element, best.at},
             ArrayRef{b.getMultiDimIdentityMap(rank), out, out}, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value index = arith::IndexCastOp::create(
                   b, loc, b.getI64Type(),
                   linalg::IndexOp::create(b, loc, axis));
               Value x = hasRanks ? rankOf(b, loc, args[0], isMax) : args[0];
               Value wins = isBetter(b, x, args[1], op.getSelectLastIndex());
               linalg::YieldOp::create(
                   b, loc,
                   ValueRange{
                       arith::SelectOp::create(b, loc, wins, x, args[1]),
                       arith::SelectOp::create(b, loc, wins, index, args[2])});
             })
      .getResult(1);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the element at `position` of the row of the current result, in the
/// type of arithmetic.
Value ArgReduction::elementAt(OpBuilder &b, Location loc, Value position) {
  SmallVector<Value> at(row);
  at.insert(at.begin() + axis, position);
  Value element = tensor::ExtractOp::create(b, loc, x, at);
  return hasRanks ? rankOf(b, loc, element, isMax) : element;
}

/// Folds the numbers in [0, length) with `start`.
Value ArgReduction::foldBlock(
    OpBuilder &b, Location loc, Value length, Value start,
    llvm::function_ref<Value(OpBuilder &, Location, Value, Value)> fold) {
  return scf::ForOp::create(
             b, loc, indexConstant(b, loc, 0), length, indexConstant(b, loc, 1),
             start,
             [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
               scf::YieldOp::create(b, loc, fold(b, loc, i, state[0]));
             })
      .getResult(0);
}

/// Returns the largest or smallest element of a block.
Value ArgReduction::extremumOf(OpBuilder &b, Location loc, Value first,
                               Value length) {
  ReduceKind kind = hasRanks ? ReduceKind::max : op.getKind();
  return foldBlock(b, loc, length, worstElement(b, loc),
                   [&](OpBuilder &b, Location loc, Value i, Value best) {
                     Value at = arith::AddIOp::create(b, loc, first, i);
                     return loops::combine(b, loc, kind, elementAt(b, loc, at),
                                           best, !hasRanks && isUnsigned);
                   });
}

/// Returns where in a block the element `best` is. Blocks have less than 2^31
/// elements, so that vectors have many positions.
Value ArgReduction::placeOf(OpBuilder &b, Location loc, Value best, Value first,
                            Value length) {
  const bool last = op.getSelectLastIndex();
  Type i32 = b.getI32Type();
  Value none = arith::ConstantIntOp::create(b, loc, i32, last ? -1 : INT32_MAX);
  Value place = foldBlock(
      b, loc, length, none,
      [&](OpBuilder &b, Location loc, Value i, Value place) -> Value {
        Value x = elementAt(b, loc, arith::AddIOp::create(b, loc, first, i));
        Value isBest =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, best);
        Value here = arith::SelectOp::create(
            b, loc, isBest, arith::IndexCastOp::create(b, loc, i32, i), none);
        return last ? Value(arith::MaxSIOp::create(b, loc, place, here))
                    : Value(arith::MinSIOp::create(b, loc, place, here));
      });
  Value at = arith::AddIOp::create(
      b, loc, first,
      arith::IndexCastOp::create(b, loc, b.getIndexType(), place));
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), at);
}

/// Finds the best element of each row, and then its position. Each step is a
/// loop that LLVM vectorizes, because neither step keeps elements and positions
/// together. A long row is read block by block. Only the block with the best
/// element is read twice.
Value ArgReduction::reduceRows() {
  RowBlocks blocks;
  blocks.size = sizesOf(b, loc, x)[axis];
  blocks.length =
      minSizes(b, loc, blocks.size, b.getIndexAttr(threshold::argReduceBlock));
  OpFoldResult rounded = subSizes(
      b, loc, addSizes(b, loc, blocks.size, blocks.length), b.getIndexAttr(1));
  blocks.count = divSizes(b, loc, rounded, blocks.length);
  SmallVector<int64_t> kept;
  RankedTensorType type = withoutDims(from, axis, kept).clone(b.getI64Type());
  Value rows = createEmpty(b, loc, type, dynamicSizesOf(b, loc, x, kept));
  return createGeneric(
      b, loc, rows, {}, {}, [&](OpBuilder &b, Location loc, ValueRange) {
        // Reads the indices here, because loops in the body cannot.
        for (int64_t d = 0; d < type.getRank(); ++d)
          row.push_back(linalg::IndexOp::create(b, loc, d));
        Value length = indexValue(b, loc, blocks.length),
              zero = indexConstant(b, loc, 0);
        if (getConstantIntValue(blocks.count) == 1)
          return placeOf(b, loc, extremumOf(b, loc, zero, length), zero,
                         length);
        auto walk = scf::ForOp::create(
            b, loc, zero, indexValue(b, loc, blocks.count),
            indexConstant(b, loc, 1), ValueRange{worstElement(b, loc), zero},
            [&](OpBuilder &b, Location loc, Value block, ValueRange state) {
              Value first = blocks.startOf(b, loc, block),
                    best = extremumOf(b, loc, first, length);
              Value wins = isBetter(b, best, state[0], op.getSelectLastIndex());
              scf::YieldOp::create(
                  b, loc,
                  ValueRange{
                      arith::SelectOp::create(b, loc, wins, best, state[0]),
                      arith::SelectOp::create(b, loc, wins, first, state[1])});
            });
        return placeOf(b, loc, walk.getResult(0), walk.getResult(1), length);
      });
}

struct LowerArgReduce : OpConversionPattern<nn::ArgReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(nn::ArgReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    Value x = adaptor.getX();
    Value y = ArgReduction(op, b, x).reduce();
    if (op.getKeepDims())
      y = keepReducedDims(b, op.getLoc(), y, typeOf(x), op.getAxis());
    b.replaceOp(op, castTo(b, op.getLoc(), y, op.getType()));
    return success();
  }
};

} // namespace

void loops::populateArgReduceToLinalg(RewritePatternSet &patterns,
                                      const TypeConverter &converter) {
  patterns.add<LowerArgReduce>(converter, patterns.getContext());
}
