//===- PoolToLinalg.cpp - pooling over windows ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/Tensors.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// The loops of a pooling: those of the result's dimensions, then those of the
/// window.
struct PoolLoops {
  ArrayRef<int64_t> kernel, strides, pads, dilations;
  /// First spatial dimension of the data.
  int64_t first;
  int64_t rank;

  size_t size() const { return kernel.size(); }
  bool isSpatial(int64_t dim) const {
    return dim >= first && dim < first + int64_t(size());
  }
  SmallVector<int64_t> padsOf(bool high) const {
    SmallVector<int64_t> all(rank, 0);
    for (size_t i = 0; i < size(); ++i)
      all[first + i] = pads[i + (high ? size() : 0)];
    return all;
  }
};

} // namespace

/// Returns the maps of the padded data, of a tensor of the window's shape, and
/// of the result.
static SmallVector<AffineMap> poolMaps(OpBuilder &b, const PoolLoops &windows) {
  int64_t loops = windows.rank + windows.size();
  SmallVector<AffineExpr> data, window, result;
  for (int64_t i = 0; i < windows.rank; ++i) {
    AffineExpr p = b.getAffineDimExpr(i);
    result.push_back(p);
    if (windows.isSpatial(i)) {
      int64_t at = i - windows.first;
      AffineExpr k = b.getAffineDimExpr(windows.rank + at);
      p = p * windows.strides[at] + k * windows.dilations[at];
    }
    data.push_back(p);
  }
  for (size_t i = 0; i < windows.size(); ++i)
    window.push_back(b.getAffineDimExpr(windows.rank + i));
  MLIRContext *context = b.getContext();
  return {AffineMap::get(loops, 0, data, context),
          AffineMap::get(loops, 0, window, context),
          AffineMap::get(loops, 0, result, context)};
}

static SmallVector<utils::IteratorType>
poolIterators(const PoolLoops &windows) {
  SmallVector<utils::IteratorType> iterators(windows.rank,
                                             utils::IteratorType::parallel);
  iterators.append(windows.size(), utils::IteratorType::reduction);
  return iterators;
}

namespace {

/// Combines the elements of each window of padded data, from `start` on.
struct WindowReduction {
  OpBuilder &b;
  Location loc;
  const PoolLoops &windows;
  Value start;
  function_ref<Value(OpBuilder &, Location, Value, Value)> combine;

  /// Returns the result, whose sizes are given.
  Value reduce(Value padded, ArrayRef<OpFoldResult> sizes);

private:
  Value reduceTaps(Value x, size_t dim, ArrayRef<OpFoldResult> sizes);
  Value reduceLoop(Value x, const PoolLoops &windows,
                   ArrayRef<OpFoldResult> sizes);
};

} // namespace

/// Combines `x` along one dimension of the windows, if it has few taps. Each
/// tap is a separate linalg op. Such an op is vectorized whatever the inner
/// dimensions are.
Value WindowReduction::reduceTaps(Value x, size_t dim,
                                  ArrayRef<OpFoldResult> sizes) {
  Type type = start.getType();
  Sizes starts(windows.rank, b.getIndexAttr(0)),
      strides(windows.rank, b.getIndexAttr(1));
  int64_t axis = windows.first + int64_t(dim);
  strides[axis] = b.getIndexAttr(windows.strides[dim]);
  SmallVector<Value> taps;
  for (int64_t k = 0; k < windows.kernel[dim]; ++k) {
    starts[axis] = b.getIndexAttr(k * windows.dilations[dim]);
    taps.push_back(
        tensor::ExtractSliceOp::create(b, loc, x, starts, sizes, strides));
  }
  SmallVector<AffineMap> maps(taps.size(),
                              b.getMultiDimIdentityMap(windows.rank));
  return createGeneric(b, loc, empty(b, loc, sizes, type), taps, maps,
                       [&](OpBuilder &b, Location loc, ValueRange args) {
                         Value all;
                         for (Value arg : args.drop_back()) {
                           Value x = convertScalar(b, loc, arg, type, false,
                                                   false);
                           all = all ? combine(b, loc, all, x) : x;
                         }
                         return all;
                       });
}

/// Combines the elements of each window in one linalg op that loops over the
/// taps.
Value WindowReduction::reduceLoop(Value x, const PoolLoops &windows,
                                  ArrayRef<OpFoldResult> sizes) {
  Type type = start.getType();
  Value init = filled(b, loc, sizes, start);
  Value window = tensor::EmptyOp::create(b, loc, windows.kernel, type);
  return linalg::GenericOp::create(
             b, loc, init.getType(), ValueRange{x, window}, init,
             poolMaps(b, windows), poolIterators(windows),
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value x = convertScalar(b, loc, args[0], type, false, false);
               linalg::YieldOp::create(b, loc, combine(b, loc, args[2], x));
             })
      .getResult(0);
}

/// Combines one dimension after the other. Bytes are combined in all dimensions
/// at once, because moving intermediate results takes longer than the
/// computation. Empty data are also combined in all dimensions at once, because
/// empty data cannot be sliced.
Value WindowReduction::reduce(Value padded, ArrayRef<OpFoldResult> sizes) {
  if (typeOf(padded).getElementTypeBitWidth() < 32 ||
      isKnownEmpty(typeOf(padded).getShape()))
    return reduceLoop(padded, windows, sizes);
  Value x = padded;
  Sizes between = sizesOf(b, loc, padded);
  for (size_t dim = 0; dim < windows.size(); ++dim) {
    int64_t axis = windows.first + int64_t(dim);
    between[axis] = sizes[axis];
    if (windows.kernel[dim] == 1 && windows.strides[dim] == 1)
      continue;
    if (windows.kernel[dim] <= threshold::slicedTaps) {
      x = reduceTaps(x, dim, between);
      continue;
    }
    SmallVector<int64_t> kernel(windows.size(), 1), strides = kernel;
    kernel[dim] = windows.kernel[dim];
    strides[dim] = windows.strides[dim];
    PoolLoops one = windows;
    one.kernel = kernel;
    one.strides = strides;
    x = reduceLoop(x, one, between);
  }
  return x;
}

template <typename Op>
static PoolLoops windowsOf(Op op, bool channelsLast) {
  return {op.getKernel(), op.getStrides(),      op.getPads(),
          op.getDilations(), channelsLast ? 1 : 2,
          cast<RankedTensorType>(op.getX().getType()).getRank()};
}

namespace {

struct LowerMaxPool : OpConversionPattern<nn::MaxPoolOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::MaxPoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    PoolLoops windows = windowsOf(op, op.getChannelsLast());
    Value x = adaptor.getX();
    bool noSign = isUnsigned(op.getX().getType());
    Value lowest =
        extremum(rewriter, loc, typeOf(x).getElementType(), /*highest=*/false,
                 noSign);
    Value padded = pad(rewriter, loc, x, windows.padsOf(false),
                       windows.padsOf(true), lowest);
    auto larger = [&](OpBuilder &b, Location loc, Value sum, Value x) {
      return maxScalars(b, loc, sum, x, noSign);
    };
    Value y = WindowReduction{rewriter, loc, windows, lowest, larger}.reduce(
        padded, resultSizes(rewriter, op->getResult(0)));
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

struct LowerAvgPool : OpConversionPattern<nn::AvgPoolOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::AvgPoolOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct LowerMaxPoolWithIndices
    : OpConversionPattern<nn::MaxPoolWithIndicesOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::MaxPoolWithIndicesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Returns the number of elements of each window that lie in the data. Pools
/// ones over the spatial dimensions. `pooled` are the sizes of the result.
static Value countInside(OpBuilder &b, Location loc, Value x,
                         const PoolLoops &windows,
                         ArrayRef<OpFoldResult> pooled, Type type) {
  PoolLoops spatial = windows;
  spatial.first = 0;
  spatial.rank = windows.size();
  Sizes all = sizesOf(b, loc, x), sizes;
  for (size_t i = 0; i < windows.size(); ++i)
    sizes.push_back(all[windows.first + i]);
  Value ones = filled(b, loc, sizes, scalar(b, loc, type, 1));
  Value zero = scalar(b, loc, type, 0);
  Value padded = pad(b, loc, ones, spatial.padsOf(false), spatial.padsOf(true),
                     zero);
  return WindowReduction{b, loc, spatial, zero, addScalars}.reduce(
      padded, pooled.slice(windows.first, windows.size()));
}

LogicalResult
LowerAvgPool::matchAndRewrite(nn::AvgPoolOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  PoolLoops windows = windowsOf(op, op.getChannelsLast());
  Value x = adaptor.getX();
  RankedTensorType type = signless(getTypeConverter(), op);
  Type element = type.getElementType();
  if (!isa<FloatType>(element))
    return rewriter.notifyMatchFailure(op, "no average of integers");
  Type compute = computeType(element);
  Value padded =
      pad(rewriter, loc, x, windows.padsOf(false), windows.padsOf(true),
          scalar(rewriter, loc, element, 0));
  Sizes sizes = resultSizes(rewriter, op->getResult(0));
  Value zero = scalar(rewriter, loc, compute, 0);
  Value sum = WindowReduction{rewriter, loc, windows, zero, addScalars}.reduce(
      padded, sizes);
  int64_t count = 1;
  for (int64_t size : windows.kernel)
    count *= size;
  bool partial =
      !op.getCountIncludePad() &&
      llvm::any_of(windows.pads, [](int64_t pad) { return pad != 0; });
  SmallVector<Value> inputs = {sum};
  SmallVector<AffineMap> maps = {rewriter.getMultiDimIdentityMap(windows.rank)};
  if (partial) {
    inputs.push_back(countInside(rewriter, loc, x, windows, sizes, compute));
    SmallVector<AffineExpr> exprs;
    for (size_t i = 0; i < windows.size(); ++i)
      exprs.push_back(rewriter.getAffineDimExpr(windows.first + i));
    maps.push_back(AffineMap::get(windows.rank, 0, exprs, getContext()));
  }
  Value init = empty(rewriter, loc, sizes, element);
  Value y = createGeneric(
      rewriter, loc, init, inputs, maps,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        // Divides by at least 1, so that an empty window gives 0 instead of
        // 0/0.
        Value by = partial ? Value(arith::MaximumFOp::create(
                                 b, loc, args[1], scalar(b, loc, compute, 1)))
                           : scalar(b, loc, compute, count);
        Value mean = arith::DivFOp::create(b, loc, args[0], by);
        return convertScalar(b, loc, mean, element, false, false);
      });
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

namespace {

/// Computes the positions of a window's elements in the flattened data.
class FlatPositions {
public:
  FlatPositions(OpBuilder &b, Location loc, Value x, const PoolLoops &windows,
                bool isColumnMajor)
      : windows(windows) {
    int64_t rank = windows.rank;
    Sizes sizes = sizesOf(b, loc, x), steps(rank);
    OpFoldResult step = b.getIndexAttr(1);
    for (int64_t i = rank - 1; i >= 0; --i) {
      steps[i] = step;
      step = mulSizes(b, loc, step, sizes[i]);
    }
    if (isColumnMajor && windows.size() > 1) {
      steps[rank - 2] = b.getIndexAttr(1);
      steps[rank - 1] = sizes[rank - 2];
    }
    for (int64_t i = 0; i < rank; ++i) {
      fullSizes.push_back(indexValue(b, loc, sizes[i]));
      weights.push_back(indexValue(b, loc, steps[i]));
    }
  }

  /// Returns the position of the element that a window reads in the current
  /// iteration.
  Value current(OpBuilder &b, Location loc) const {
    return flatten(b, loc, [&](int64_t s, Value start) -> Value {
      Value k = linalg::IndexOp::create(b, loc, windows.rank + s);
      k = arith::MulIOp::create(b, loc, k,
                                indexConstant(b, loc, windows.dilations[s]));
      return arith::AddIOp::create(b, loc, start, k);
    });
  }
  /// Returns the position of the first element of a window, or -1 if all of the
  /// window lies in the padding.
  Value first(OpBuilder &b, Location loc) const;

private:
  /// Adds the weighted positions of all dimensions. `move` maps the start of a
  /// window in a spatial dimension to a position.
  Value flatten(OpBuilder &b, Location loc,
                llvm::function_ref<Value(int64_t, Value)> move) const;

  const PoolLoops &windows;
  SmallVector<Value> fullSizes, weights;
};

} // namespace

Value FlatPositions::flatten(
    OpBuilder &b, Location loc,
    llvm::function_ref<Value(int64_t, Value)> move) const {
  Value flat = indexConstant(b, loc, 0);
  for (int64_t i = 0; i < windows.rank; ++i) {
    Value at = linalg::IndexOp::create(b, loc, i);
    if (windows.isSpatial(i)) {
      int64_t s = i - windows.first;
      at = arith::MulIOp::create(b, loc, at,
                                 indexConstant(b, loc, windows.strides[s]));
      at = arith::SubIOp::create(b, loc, at,
                                 indexConstant(b, loc, windows.pads[s]));
      at = move(s, at);
    }
    Value term = arith::MulIOp::create(b, loc, at, weights[i]);
    flat = arith::AddIOp::create(b, loc, flat, term);
  }
  return flat;
}

Value FlatPositions::first(OpBuilder &b, Location loc) const {
  Value zero = indexConstant(b, loc, 0), isInside;
  Value flat = flatten(b, loc, [&](int64_t s, Value start) -> Value {
    int64_t step = windows.dilations[s];
    // The first tap of the window that is not in front of the data.
    Value missing = arith::MaxSIOp::create(
        b, loc, arith::SubIOp::create(b, loc, zero, start), zero);
    Value steps = arith::CeilDivUIOp::create(b, loc, missing,
                                             indexConstant(b, loc, step));
    Value at = arith::AddIOp::create(
        b, loc, start,
        arith::MulIOp::create(b, loc, steps, indexConstant(b, loc, step)));
    Value isReached =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, steps,
                              indexConstant(b, loc, windows.kernel[s]));
    Value isBelow =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at,
                              fullSizes[windows.first + s]);
    for (Value holds : {isReached, isBelow})
      isInside = isInside ? arith::AndIOp::create(b, loc, isInside, holds)
                          : holds;
    return at;
  });
  return isInside ? arith::SelectOp::create(b, loc, isInside, flat,
                                            indexConstant(b, loc, -1))
                  : flat;
}

/// Returns a condition that is true at the first tap of a window.
static Value isFirstStep(OpBuilder &b, Location loc, const PoolLoops &windows) {
  Value isFirst, zero = indexConstant(b, loc, 0);
  for (size_t i = 0; i < windows.size(); ++i) {
    Value isZero = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::eq,
        linalg::IndexOp::create(b, loc, windows.rank + i), zero);
    isFirst = isFirst ? arith::AndIOp::create(b, loc, isFirst, isZero) : isZero;
  }
  return isFirst;
}

LogicalResult LowerMaxPoolWithIndices::matchAndRewrite(
    nn::MaxPoolWithIndicesOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  PoolLoops windows = windowsOf(op, /*channelsLast=*/false);
  Value x = adaptor.getX();
  Type element = typeOf(x).getElementType(), i64 = rewriter.getI64Type();
  bool noSign = isUnsigned(op.getX().getType());
  Value lowest = extremum(rewriter, loc, element, /*highest=*/false, noSign);
  Value padded = pad(rewriter, loc, x, windows.padsOf(false),
                     windows.padsOf(true), lowest);
  Sizes sizes = resultSizes(rewriter, op->getResult(0));
  FlatPositions flat(rewriter, loc, x, windows, op.getColumnMajor());
  Value values = filled(rewriter, loc, sizes, lowest), positions;
  // Handle windows in which no element is better than the start value. Padding
  // and elements as low as the start value are not better. With padding, the
  // position of the first element in the data is computed beforehand. Without
  // padding, the first tap sets the position.
  bool hasPads = llvm::any_of(windows.pads, [](int64_t pad) { return pad; });
  if (hasPads)
    positions = createGeneric(
        rewriter, loc, empty(rewriter, loc, sizes, i64), {}, {},
        [&](OpBuilder &b, Location loc, ValueRange) -> Value {
          return arith::IndexCastOp::create(b, loc, i64, flat.first(b, loc));
        });
  else
    positions = filled(rewriter, loc, sizes, scalar(rewriter, loc, i64, -1));
  Value window =
      tensor::EmptyOp::create(rewriter, loc, windows.kernel, element);
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    Value x = args[0], best = args[2], where = args[3];
    Value wins;
    if (isa<FloatType>(element)) {
      // Treats NaN as the largest value. Nothing replaces the first NaN.
      using Predicate = arith::CmpFPredicate;
      auto compare = [&](Predicate predicate, Value with) -> Value {
        return arith::CmpFOp::create(b, loc, predicate, with, best);
      };
      wins = arith::AndIOp::create(b, loc, compare(Predicate::UGT, x),
                                   compare(Predicate::ORD, best));
    } else {
      wins = isBetter(b, loc, x, best, {/*isMax=*/true, noSign},
                      /*orEqual=*/false);
    }
    if (!hasPads)
      wins = arith::OrIOp::create(b, loc, wins, isFirstStep(b, loc, windows));
    Value position =
        arith::IndexCastOp::create(b, loc, i64, flat.current(b, loc));
    linalg::YieldOp::create(
        b, loc,
        ValueRange{arith::SelectOp::create(b, loc, wins, x, best),
                   arith::SelectOp::create(b, loc, wins, position, where)});
  };
  SmallVector<AffineMap> maps = poolMaps(rewriter, windows);
  maps.push_back(maps.back());
  auto generic = linalg::GenericOp::create(
      rewriter, loc, TypeRange{values.getType(), positions.getType()},
      ValueRange{padded, window}, ValueRange{values, positions}, maps,
      poolIterators(windows), body);
  rewriter.replaceOp(
      op,
      {castTo(rewriter, loc, generic.getResult(0),
              getTypeConverter()->convertType(op.getY().getType())),
       castTo(rewriter, loc, generic.getResult(1),
              getTypeConverter()->convertType(op.getIndices().getType()))});
  return success();
}

void loops::populatePoolToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter) {
  patterns.add<LowerAvgPool, LowerMaxPool, LowerMaxPoolWithIndices>(
      converter, patterns.getContext());
}
