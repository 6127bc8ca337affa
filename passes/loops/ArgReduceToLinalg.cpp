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

/// The number of parts of a long row that are compared in parallel. Within one
/// part, each comparison waits for the previous one.
static constexpr int64_t kArgLanes = threshold::argReduceLanes;

/// Builds the loops of an arg_reduce.
class ArgReduction {
public:
  ArgReduction(nn::ArgReduceOp op, OpBuilder &b, Value x)
      : op(op), b(b), loc(op.getLoc()), from(typeOf(x)), x(x),
        isMax(op.getKind() == ReduceKind::max),
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
  /// Returns true if two comparisons of floats take less time than ranks. This
  /// is the case for vectors and for short rows, because many elements are then
  /// compared at a time.
  bool comparesFloats() {
    Type element = from.getElementType();
    if (!element.isF32() && !element.isF64())
      return false;
    int64_t inner = productOf(from.getShape().drop_front(op.getAxis() + 1)),
            size = from.getDimSize(op.getAxis());
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
  Best start(ArrayRef<int64_t> shape, ValueRange sizes, int64_t position);
  Value isBetter(OpBuilder &b, Value x, Value than, bool orEqual);
  /// Compares elements of x with the best so far. `position` returns the
  /// position of an element along the axis.
  Best compare(const Best &best, ValueRange shapes, ArrayRef<AffineMap> maps,
               ArrayRef<utils::IteratorType> iterators,
               llvm::function_ref<Value(OpBuilder &)> position);
  Value reduceRows();

  nn::ArgReduceOp op;
  OpBuilder &b;
  Location loc;
  RankedTensorType from;
  Value x;
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
                                       ValueRange sizes, int64_t position) {
  Type element = bestElement();
  Value worst = hasRanks ? extremum(b, loc, element, /*highest=*/false,
                                   /*isUnsigned=*/false)
                        : extremum(b, loc, element, !isMax, isUnsigned);
  Type i64 = b.getI64Type();
  return {createFilled(b, loc, RankedTensorType::get(shape, element), worst,
                       sizes),
          createFilled(b, loc, RankedTensorType::get(shape, i64),
                       scalar(b, loc, i64, position), sizes)};
}

ArgReduction::Best
ArgReduction::compare(const Best &best, ValueRange shapes,
                      ArrayRef<AffineMap> maps,
                      ArrayRef<utils::IteratorType> iterators,
                      llvm::function_ref<Value(OpBuilder &)> position) {
  SmallVector<Value> inputs{x};
  llvm::append_range(inputs, shapes);
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{best.element.getType(), best.at.getType()}, inputs,
      ValueRange{best.element, best.at}, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value best = args[args.size() - 2], at = args.back();
        Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(),
                                                 position(b));
        Value x = hasRanks ? rankOf(b, loc, args[0], isMax) : args[0];
        Value wins = isBetter(b, x, best, op.getSelectLastIndex());
        linalg::YieldOp::create(
            b, loc,
            ValueRange{arith::SelectOp::create(b, loc, wins, x, best),
                       arith::SelectOp::create(b, loc, wins, index, at)});
      });
  return {generic.getResult(0), generic.getResult(1)};
}

Value ArgReduction::reduce() {
  int64_t axis = op.getAxis(), rank = from.getRank();
  if (axis == rank - 1 && from.getDimSize(axis) >= 3 * kArgLanes)
    return reduceRows();
  SmallVector<int64_t> kept;
  RankedTensorType bestType = withoutDims(from, axis, kept);
  SmallVector<AffineExpr> exprs;
  for (int64_t d : kept)
    exprs.push_back(b.getAffineDimExpr(d));
  AffineMap out = AffineMap::get(rank, 0, exprs, b.getContext());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[axis] = utils::IteratorType::reduction;
  Best best = start(bestType.getShape(), dynamicSizesOf(b, loc, x, kept), 0);
  return compare(best, {}, {b.getMultiDimIdentityMap(rank), out, out},
                 iterators,
                 [&](OpBuilder &b) -> Value {
                   return linalg::IndexOp::create(b, loc, axis);
                 })
      .at;
}

Value ArgReduction::reduceRows() {
  int64_t outer = from.getRank() - 1, size = from.getShape().back(),
          steps = size / kArgLanes;
  constexpr auto kParallel = utils::IteratorType::parallel,
                 kReduction = utils::IteratorType::reduction;
  SmallVector<int64_t> rows(from.getShape().drop_back()), lanes(rows), kept;
  lanes.push_back(kArgLanes);
  withoutDims(from, outer, kept);
  SmallVector<Value> sizes = dynamicSizesOf(b, loc, x, kept);
  SmallVector<AffineExpr> row;
  for (int64_t d : kept)
    row.push_back(b.getAffineDimExpr(d));
  AffineExpr step = b.getAffineDimExpr(outer),
             lane = b.getAffineDimExpr(outer + 1);
  auto map = [&](int64_t loops, ArrayRef<AffineExpr> more) {
    SmallVector<AffineExpr> all(row);
    llvm::append_range(all, more);
    return AffineMap::get(loops, 0, all, b.getContext());
  };
  auto shapeOf = [&](ArrayRef<int64_t> shape) -> Value {
    return tensor::EmptyOp::create(b, loc, shape, b.getI8Type());
  };
  auto indexOf = [&](OpBuilder &b, int64_t d) -> Value {
    return linalg::IndexOp::create(b, loc, outer + d);
  };
  // Element k * lanes + l belongs to lane l.
  SmallVector<utils::IteratorType> loops(outer, kParallel);
  loops.append({kReduction, kParallel});
  bool last = op.getSelectLastIndex();
  Best best = compare(
      start(lanes, sizes, 0), shapeOf({steps, kArgLanes}),
      {map(outer + 2, {step * kArgLanes + lane}),
       AffineMap::get(outer + 2, 0, {step, lane}, b.getContext()),
       map(outer + 2, {lane}), map(outer + 2, {lane})},
      loops, [&](OpBuilder &b) -> Value {
        Value first = arith::MulIOp::create(b, loc, indexOf(b, 0),
                                            indexConstant(b, loc, kArgLanes));
        return arith::AddIOp::create(b, loc, first, indexOf(b, 1));
      });
  // Reduce the lanes to one element. Among equal elements, the first one wins.
  // With `select_last_index`, the last one wins.
  loops.pop_back();
  Best all = start(rows, sizes, last ? -1 : INT64_MAX);
  AffineMap byLane = map(outer + 1, {step}), byRow = map(outer + 1, {});
  auto generic = linalg::GenericOp::create(
      b, loc, TypeRange{all.element.getType(), all.at.getType()},
      ValueRange{best.element, best.at}, ValueRange{all.element, all.at},
      ArrayRef{byLane, byLane, byRow, byRow}, loops,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value isEqual = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::eq, args[0], args[2]);
        Value comesFirst = arith::CmpIOp::create(
            b, loc,
            last ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
            args[1], args[3]);
        Value wins = arith::OrIOp::create(
            b, loc, isBetter(b, args[0], args[2], /*orEqual=*/false),
            arith::AndIOp::create(b, loc, isEqual, comesFirst));
        linalg::YieldOp::create(
            b, loc,
            ValueRange{
                arith::SelectOp::create(b, loc, wins, args[0], args[2]),
                arith::SelectOp::create(b, loc, wins, args[1], args[3])});
      });
  all = {generic.getResult(0), generic.getResult(1)};
  int64_t done = steps * kArgLanes;
  if (done == size)
    return all.at;
  return compare(all, shapeOf({size - done}),
                 {map(outer + 1, {step + done}),
                  AffineMap::get(outer + 1, 0, {step}, b.getContext()), byRow,
                  byRow},
                 loops,
                 [&](OpBuilder &b) -> Value {
                   return arith::AddIOp::create(b, loc, indexOf(b, 0),
                                                indexConstant(b, loc, done));
                 })
      .at;
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
