//===- ScanToLinalg.cpp - nn.cumsum, nn.top_k -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What depends on the step before is a loop over tensors; each step is a
// linalg op over all other dimensions.
//
//===----------------------------------------------------------------------===//
#include "passes/lower/linalg/Patterns.h"
#include "passes/support/Lowering.h"
#include "passes/support/Tensors.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

namespace {

/// Entry `at` of an axis, whose dimension it keeps with size 1: where other
/// dimensions have that size, upstream's canonicalization of slices of a lower
/// rank mistakes one for another.
struct AxisSlice {
  AxisSlice(OpBuilder &b, Location loc, Value tensor, int64_t axis, Value at)
      : strides(typeOf(tensor).getRank(), b.getIndexAttr(1)),
        offsets(typeOf(tensor).getRank(), b.getIndexAttr(0)) {
    for (int64_t d = 0; d < typeOf(tensor).getRank(); ++d)
      sizes.push_back(d == axis ? OpFoldResult(b.getIndexAttr(1))
                                : tensor::getMixedSize(b, loc, tensor, d));
    offsets[axis] = at;
  }

  Value extract(OpBuilder &b, Location loc, Value tensor,
                RankedTensorType type) {
    return tensor::ExtractSliceOp::create(b, loc, type, tensor, offsets, sizes,
                                          strides);
  }
  Value insert(OpBuilder &b, Location loc, Value slice, Value tensor) {
    return tensor::InsertSliceOp::create(b, loc, slice, tensor, offsets, sizes,
                                         strides);
  }

  SmallVector<OpFoldResult> strides, offsets, sizes;
};

/// The type of an AxisSlice, and the dynamic sizes of one.
static RankedTensorType sliceTypeOf(RankedTensorType type, int64_t axis) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  return type.clone(shape);
}
static SmallVector<Value> sliceSizesOf(OpBuilder &b, Location loc, Value x,
                                       int64_t axis) {
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < typeOf(x).getRank(); ++d)
    if (d != axis && typeOf(x).isDynamicDim(d))
      sizes.push_back(sizeOf(b, loc, x, d));
  return sizes;
}

struct LowerCumSum : OpConversionPattern<nn::CumSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(nn::CumSumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    RankedTensorType type = typeOf(x);
    Type element = type.getElementType(), accType = computeType(element);
    int64_t axis = op.getAxis();
    RankedTensorType sliceType = sliceTypeOf(type, axis);
    SmallVector<Value> sliceSizes = sliceSizesOf(b, loc, x, axis);
    Value out = createEmpty(b, loc, type, dynamicSizesLike(b, loc, type, x));
    if (isKnownEmpty(type.getShape())) {
      b.replaceOp(op, castTo(b, loc, out, getTypeConverter()->convertType(
                                                 op.getType())));
      return success();
    }
    Value acc = createFilled(b, loc, sliceType.clone(accType),
                             scalar(b, loc, accType, op.getProduct() ? 1 : 0),
                             sliceSizes);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value size = sizeOf(b, loc, x, axis);
    AffineMap map = b.getMultiDimIdentityMap(sliceType.getRank());
    auto step = [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
      Value at = i;
      if (op.getReverse()) {
        Value last = arith::SubIOp::create(b, loc, size, one);
        at = arith::SubIOp::create(b, loc, last, i);
      }
      AxisSlice slice(b, loc, x, axis, at);
      Value xs = slice.extract(b, loc, x, sliceType);
      // The results of this step, then the sums that the next one starts from.
      auto generic = linalg::GenericOp::create(
          b, loc, TypeRange{sliceType, state[1].getType()}, xs,
          ValueRange{createEmpty(b, loc, sliceType, sliceSizes), state[1]},
          {map, map, map},
          SmallVector<utils::IteratorType>(sliceType.getRank(),
                                           utils::IteratorType::parallel),
          [&](OpBuilder &b, Location loc, ValueRange args) {
            Value v = convertScalar(b, loc, args[0], accType, false, false);
            Value sum = combine(b, loc, args[2], v, op.getProduct());
            Value shown = op.getExclusive() ? args[2] : sum;
            shown = convertScalar(b, loc, shown, element, false, false);
            linalg::YieldOp::create(b, loc, ValueRange{shown, sum});
          });
      Value written =
          slice.insert(b, loc, generic.getResult(0), state[0]);
      scf::YieldOp::create(b, loc, ValueRange{written, generic.getResult(1)});
    };
    auto loop = scf::ForOp::create(b, loc, zero, size, one,
                                   ValueRange{out, acc}, step);
    Type stated = getTypeConverter()->convertType(op.getType());
    b.replaceOp(op, castTo(b, loc, loop.getResult(0), stated));
    return success();
  }

  static Value combine(OpBuilder &b, Location loc, Value acc, Value v,
                       bool product) {
    if (isa<FloatType>(acc.getType()))
      return product ? Value(arith::MulFOp::create(b, loc, acc, v))
                     : Value(arith::AddFOp::create(b, loc, acc, v));
    return product ? Value(arith::MulIOp::create(b, loc, acc, v))
                   : Value(arith::AddIOp::create(b, loc, acc, v));
  }
};

/// Each of k rounds finds the best element behind the one found last, in the
/// order of values, then of positions.
struct LowerTopK : OpConversionPattern<nn::TopKOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(nn::TopKOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    RankedTensorType type = typeOf(x);
    int64_t axis = op.getAxis();
    Type i64 = b.getI64Type(), element = type.getElementType();
    RankedTensorType valueType = sliceTypeOf(type, axis);
    RankedTensorType indexType = valueType.clone(i64);
    SmallVector<Value> sizes = sliceSizesOf(b, loc, x, axis);
    Sizes found = resultSizes(b, op->getResult(0));
    Value k = indexValue(b, loc, found[axis]);
    Value values = empty(b, loc, found, element);
    Value indices = empty(b, loc, found, i64);
    if (isKnownEmpty(type.getShape()) || isKnownEmpty(shapeOf(values))) {
      b.replaceOp(op, castResults(b, op, {values, indices}));
      return success();
    }
    Value noValue = createFilled(b, loc, valueType,
                                 scalar(b, loc, element, 0), sizes);
    Value none =
        createFilled(b, loc, indexType, scalar(b, loc, i64, -1), sizes);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    auto round = [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
      ValueRange best =
          findNext(b, loc, op, x, state[2], state[3], noValue, none);
      AxisSlice slice(b, loc, state[0], axis, i);
      Value newValues = slice.insert(b, loc, best[0], state[0]);
      Value newIndices = slice.insert(b, loc, best[1], state[1]);
      // Copied, so that each round leaves its findings in the loop's buffers.
      Value lastValue = copyInto(b, loc, best[0], state[2]);
      Value lastIndex = copyInto(b, loc, best[1], state[3]);
      scf::YieldOp::create(
          b, loc, ValueRange{newValues, newIndices, lastValue, lastIndex});
    };
    auto loop =
        scf::ForOp::create(b, loc, zero, k, one,
                           ValueRange{values, indices, noValue, none}, round);
    b.replaceOp(op, castResults(b, op, loop.getResults().take_front(2)));
    return success();
  }

  SmallVector<Value> castResults(OpBuilder &b, nn::TopKOp op,
                                 ValueRange values) const {
    SmallVector<Value> results;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), values)) {
      Type stated = getTypeConverter()->convertType(result.getType());
      results.push_back(castTo(b, op.getLoc(), value, stated));
    }
    return results;
  }

  static Value copyInto(OpBuilder &b, Location loc, Value from, Value to) {
    return linalg::CopyOp::create(b, loc, from, to).getResult(0);
  }

  static ValueRange findNext(OpBuilder &b, Location loc, nn::TopKOp op, Value x,
                             Value lastValue, Value lastIndex, Value noValue,
                             Value none) {
    int64_t rank = typeOf(x).getRank(), axis = op.getAxis();
    bool isMax = !op.getSmallest();
    bool isUnsigned = lower::isUnsigned(op.getX().getType());
    SmallVector<AffineExpr> exprs;
    for (int64_t d = 0; d < rank; ++d)
      exprs.push_back(d == axis ? b.getAffineConstantExpr(0)
                                : b.getAffineDimExpr(d));
    AffineMap out = AffineMap::get(rank, 0, exprs, b.getContext());
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    iterators[axis] = utils::IteratorType::reduction;
    SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank), out, out, out,
                                out};
    auto generic = linalg::GenericOp::create(
        b, loc, TypeRange{noValue.getType(), none.getType()},
        ValueRange{x, lastValue, lastIndex}, ValueRange{noValue, none}, maps,
        iterators, [&](OpBuilder &b, Location loc, ValueRange args) {
          Value v = args[0], value = args[1], index = args[2], best = args[3],
                bestAt = args[4];
          Value position = linalg::IndexOp::create(b, loc, axis);
          Value at =
              arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
          auto compare = [&](arith::CmpIPredicate p, Value l,
                             Value r) -> Value {
            return arith::CmpIOp::create(b, loc, p, l, r);
          };
          Value zero = scalar(b, loc, b.getI64Type(), 0);
          // Behind the last one: worse, or as good and later.
          Value first = compare(arith::CmpIPredicate::slt, index, zero);
          Value worse = isBetter(b, loc, value, v, isMax, false, isUnsigned);
          Value notBetter = isBetter(b, loc, value, v, isMax, true, isUnsigned);
          Value later = compare(arith::CmpIPredicate::sgt, at, index);
          Value behind = arith::OrIOp::create(
              b, loc, first,
              arith::OrIOp::create(
                  b, loc, worse,
                  arith::AndIOp::create(b, loc, notBetter, later)));
          Value isFirstFound = compare(arith::CmpIPredicate::slt, bestAt, zero);
          Value better = isBetter(b, loc, v, best, isMax, false, isUnsigned);
          Value takes = arith::AndIOp::create(
              b, loc, behind,
              arith::OrIOp::create(b, loc, isFirstFound, better));
          Value newBest = arith::SelectOp::create(b, loc, takes, v, best);
          Value newAt = arith::SelectOp::create(b, loc, takes, at, bestAt);
          linalg::YieldOp::create(b, loc, ValueRange{newBest, newAt});
        });
    return generic.getResults();
  }
};

} // namespace

void lower::populateScanToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter) {
  patterns.add<LowerCumSum, LowerTopK>(converter, patterns.getContext());
}
