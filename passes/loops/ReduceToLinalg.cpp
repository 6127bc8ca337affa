//===- ReduceToLinalg.cpp - nn.reduce -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

using nn::ReduceKind;

Value support::extremum(OpBuilder &b, Location loc, Type type, bool highest,
                        bool isUnsigned) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    // If the type has no infinities, use its largest finite value.
    APFloat value =
        APFloat::semanticsHasInf(floatType.getFloatSemantics())
            ? APFloat::getInf(floatType.getFloatSemantics(), !highest)
            : APFloat::getLargest(floatType.getFloatSemantics(), !highest);
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = isUnsigned
                    ? (highest ? APInt::getMaxValue(width)
                               : APInt::getMinValue(width))
                    : (highest ? APInt::getSignedMaxValue(width)
                               : APInt::getSignedMinValue(width));
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

Value support::keepReducedDims(OpBuilder &b, Location loc, Value reduced,
                               RankedTensorType from, ArrayRef<int64_t> axes) {
  if (axes.empty())
    return reduced;
  SmallVector<int64_t> shape(from.getShape());
  for (int64_t axis : axes)
    shape[axis] = 1;
  auto type =
      RankedTensorType::get(shape, typeOf(reduced).getElementType());
  SmallVector<ReassociationIndices> groups;
  ReassociationIndices pending;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    pending.push_back(d);
    if (llvm::is_contained(axes, d))
      continue;
    groups.push_back(pending);
    pending.clear();
  }
  if (!groups.empty())
    groups.back().append(pending);
  return tensor::ExpandShapeOp::create(b, loc, type, reduced, groups);
}

RankedTensorType support::withoutDims(RankedTensorType type,
                                      ArrayRef<int64_t> axes,
                                      SmallVectorImpl<int64_t> &kept) {
  SmallVector<int64_t> shape;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (llvm::is_contained(axes, d))
      continue;
    kept.push_back(d);
    shape.push_back(type.getDimSize(d));
  }
  return RankedTensorType::get(shape, type.getElementType());
}

//===----------------------------------------------------------------------===//
// nn.reduce
//===----------------------------------------------------------------------===//

/// Returns the type of the accumulator. Narrow floats use f32. Means of
/// integers use i64, because they are divided after the sum.
static Type accumulatorType(ReduceKind kind, Type element) {
  if (kind == ReduceKind::mean && element.isInteger())
    return IntegerType::get(element.getContext(), 64);
  return computeType(element);
}

static Value neutral(OpBuilder &b, Location loc, ReduceKind kind, Type type,
                     bool isUnsigned) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
  case ReduceKind::sum_square:
    return scalar(b, loc, type, 0);
  case ReduceKind::prod:
    return scalar(b, loc, type, 1);
  case ReduceKind::max:
    return extremum(b, loc, type, /*highest=*/false, isUnsigned);
  case ReduceKind::min:
    return extremum(b, loc, type, /*highest=*/true, isUnsigned);
  }
  llvm_unreachable("unknown kind");
}

Value loops::combine(OpBuilder &b, Location loc, ReduceKind kind, Value x,
                     Value acc, bool isUnsigned) {
  bool isFloat = isa<FloatType>(acc.getType());
  auto mul = [&](Value l, Value r) -> Value {
    return isFloat ? Value(arith::MulFOp::create(b, loc, l, r))
                   : Value(arith::MulIOp::create(b, loc, l, r));
  };
  auto add = [&](Value l, Value r) -> Value {
    return isFloat ? Value(arith::AddFOp::create(b, loc, l, r))
                   : Value(arith::AddIOp::create(b, loc, l, r));
  };
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return add(acc, x);
  case ReduceKind::sum_square:
    return add(acc, mul(x, x));
  case ReduceKind::prod:
    return mul(acc, x);
  case ReduceKind::max:
    if (isFloat)
      return arith::MaximumFOp::create(b, loc, acc, x);
    return isUnsigned ? Value(arith::MaxUIOp::create(b, loc, acc, x))
                      : Value(arith::MaxSIOp::create(b, loc, acc, x));
  case ReduceKind::min:
    if (isFloat)
      return arith::MinimumFOp::create(b, loc, acc, x);
    return isUnsigned ? Value(arith::MinUIOp::create(b, loc, acc, x))
                      : Value(arith::MinSIOp::create(b, loc, acc, x));
  }
  llvm_unreachable("unknown kind");
}

/// Returns the number of elements that one result reduces.
static Value countReduced(OpBuilder &b, Location loc, Value x,
                          ArrayRef<int64_t> axes) {
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (int64_t axis : axes)
    count = b.createOrFold<arith::MulIOp>(loc, count, sizeOf(b, loc, x, axis));
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
}

namespace {

struct LowerReduce : OpConversionPattern<nn::ReduceOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(nn::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    RankedTensorType from = typeOf(x);
    Type element = from.getElementType();
    if (!element.isIntOrFloat())
      return b.notifyMatchFailure(op, "no arithmetic for the type");
    bool isUnsigned = support::isUnsigned(op.getX().getType());
    ReduceKind kind = op.getKind();
    Type accType = accumulatorType(kind, element);

    SmallVector<int64_t> kept;
    RankedTensorType reduced =
        withoutDims(from, op.getAxes(), kept).clone(accType);
    SmallVector<Value> sizes = dynamicSizesOf(b, loc, x, kept);
    Value init = createFilled(
        b, loc, reduced, neutral(b, loc, kind, accType, isUnsigned), sizes);
    int64_t rank = from.getRank();
    SmallVector<AffineExpr> exprs;
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::reduction);
    for (int64_t d : kept) {
      exprs.push_back(b.getAffineDimExpr(d));
      iterators[d] = utils::IteratorType::parallel;
    }
    SmallVector<AffineMap> maps{
        b.getMultiDimIdentityMap(rank),
        AffineMap::get(rank, 0, exprs, b.getContext())};
    Value y = linalg::GenericOp::create(
                  b, loc, reduced, x, init, maps, iterators,
                  [&](OpBuilder &nested, Location loc, ValueRange args) {
                    Value v = convertScalar(nested, loc, args[0], accType,
                                            isUnsigned, isUnsigned);
                    Value acc = loops::combine(nested, loc, kind, v, args[1],
                                               isUnsigned);
                    linalg::YieldOp::create(nested, loc, acc);
                  })
                  .getResult(0);
    if (kind == ReduceKind::mean || accType != element)
      y = finish(b, op, x, y, element, isUnsigned);
    if (op.getKeepDims())
      y = keepReducedDims(b, loc, y, from, op.getAxes());
    Type type = getTypeConverter()->convertType(op.getType());
    b.replaceOp(op, castTo(b, loc, y, type));
    return success();
  }

  /// Divides a mean by the count, and narrows to the element type.
  static Value finish(OpBuilder &b, nn::ReduceOp op, Value x, Value sum,
                      Type element, bool isUnsigned) {
    Location loc = op.getLoc();
    Type accType = typeOf(sum).getElementType();
    Value count;
    if (op.getKind() == ReduceKind::mean)
      count = convertScalar(b, loc, countReduced(b, loc, x, op.getAxes()),
                            accType, false, isUnsigned);
    RankedTensorType type = typeOf(sum).clone(element);
    Value init =
        createEmpty(b, loc, type, dynamicSizesLike(b, loc, type, sum));
    AffineMap map = b.getMultiDimIdentityMap(type.getRank());
    return createGeneric(
        b, loc, init, sum, map,
        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
          Value v = args[0];
          if (count && isa<FloatType>(accType))
            v = arith::DivFOp::create(b, loc, v, count);
          else if (count && isUnsigned)
            v = arith::DivUIOp::create(b, loc, v, count);
          else if (count)
            v = arith::DivSIOp::create(b, loc, v, count);
          return convertScalar(b, loc, v, element, isUnsigned, isUnsigned);
        });
  }
};

} // namespace

void loops::populateReduceToLinalg(RewritePatternSet &patterns,
                                   const TypeConverter &converter) {
  patterns.add<LowerReduce>(converter, patterns.getContext());
}
