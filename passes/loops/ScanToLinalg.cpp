//===- ScanToLinalg.cpp - nn.cumsum ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers ops in which each step depends on the previous step. They become a
// loop over tensors. Each step is a linalg op over all other dimensions. If the
// axis is the last dimension, there is a loop over elements for each row.
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// Entry `at` of an axis, as a slice that keeps the axis with size 1. A slice
/// of lower rank would not work, because upstream's canonicalization confuses
/// the axis with other dimensions of size 1.
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

/// Returns the type of an AxisSlice.
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

/// Sums or products along a dimension.
struct Scan {
  explicit Scan(nn::CumSumOp op)
      : element(op.getX().getType().getElementType()), op(op) {}

  Value start(OpBuilder &b, Location loc) {
    return scalar(b, loc, accumulator(), op.getProduct() ? 1 : 0);
  }
  Type accumulator() { return computeType(nn::signless(element)); }
  /// Returns the index at which step i reads and writes.
  Value place(OpBuilder &b, Location loc, Value i, Value size) {
    if (!op.getReverse())
      return i;
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    return arith::SubIOp::create(b, loc,
                                 arith::SubIOp::create(b, loc, size, one), i);
  }
  /// Returns the result of a step for `x`, and the accumulator for the next
  /// step.
  std::pair<Value, Value> step(OpBuilder &b, Location loc, Value x, Value acc) {
    Value v = convertScalar(b, loc, x, accumulator(), false, false);
    Value sum = combine(b, loc, acc, v);
    Value shown = op.getExclusive() ? acc : sum;
    return {convertScalar(b, loc, shown, nn::signless(element), false, false),
            sum};
  }

private:
  Value combine(OpBuilder &b, Location loc, Value acc, Value v) {
    bool product = op.getProduct();
    if (isa<FloatType>(acc.getType()))
      return product ? Value(arith::MulFOp::create(b, loc, acc, v))
                     : Value(arith::AddFOp::create(b, loc, acc, v));
    return product ? Value(arith::MulIOp::create(b, loc, acc, v))
                   : Value(arith::AddIOp::create(b, loc, acc, v));
  }

  Type element;
  nn::CumSumOp op;
};

/// Scans along the last dimension, whose elements are neighbours in memory.
struct LowerRowScan : OpConversionPattern<nn::CumSumOp> {
  LowerRowScan(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(nn::CumSumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    RankedTensorType type = typeOf(x);
    int64_t axis = op.getAxis();
    if (isKnownEmpty(type.getShape()) ||
        support::productOf(type.getShape().drop_front(axis + 1)) != 1)
      return b.notifyMatchFailure(op, "is along no rows");
    Scan scan(op);
    Sizes sizes = sizesOf(b, loc, x);
    x = reshape(b, loc, x,
                {support::productOf(
                     b, loc, ArrayRef<OpFoldResult>(sizes).take_front(axis)),
                 sizes[axis]});
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value rows = sizeOf(b, loc, x, 0), size = sizeOf(b, loc, x, 1);
    auto along = [&](OpBuilder &b, Location loc, Value row, ValueRange state) {
      auto step = [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
        SmallVector<Value> place = {row, scan.place(b, loc, i, size)};
        Value element = tensor::ExtractOp::create(b, loc, x, place);
        auto [shown, sum] = scan.step(b, loc, element, state[1]);
        Value y = tensor::InsertOp::create(b, loc, shown, state[0], place);
        scf::YieldOp::create(b, loc, ValueRange{y, sum});
      };
      auto loop = scf::ForOp::create(
          b, loc, zero, size, one,
          ValueRange{state[0], scan.start(b, loc)}, step);
      scf::YieldOp::create(b, loc, loop.getResult(0));
    };
    auto loop = scf::ForOp::create(b, loc, zero, rows, one,
                                   emptyLike(b, loc, x), along);
    Value y = reshape(b, loc, loop.getResult(0), sizes);
    b.replaceOp(op,
                castTo(b, loc, y, getTypeConverter()->convertType(
                                      op.getType())));
    return success();
  }
};

struct LowerCumSum : OpConversionPattern<nn::CumSumOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(nn::CumSumOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX();
    RankedTensorType type = typeOf(x);
    Scan scan(op);
    int64_t axis = op.getAxis();
    RankedTensorType sliceType = sliceTypeOf(type, axis);
    SmallVector<Value> sliceSizes = sliceSizesOf(b, loc, x, axis);
    Value out = createEmpty(b, loc, type, dynamicSizesLike(b, loc, type, x));
    if (isKnownEmpty(type.getShape())) {
      b.replaceOp(op, castTo(b, loc, out, getTypeConverter()->convertType(
                                                 op.getType())));
      return success();
    }
    Value acc = createFilled(b, loc, sliceType.clone(scan.accumulator()),
                             scan.start(b, loc), sliceSizes);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value size = sizeOf(b, loc, x, axis);
    AffineMap map = b.getMultiDimIdentityMap(sliceType.getRank());
    auto step = [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
      AxisSlice slice(b, loc, x, axis, scan.place(b, loc, i, size));
      Value xs = slice.extract(b, loc, x, sliceType);
      // The results of this step, then the accumulators for the next step.
      auto generic = linalg::GenericOp::create(
          b, loc, TypeRange{sliceType, state[1].getType()}, xs,
          ValueRange{createEmpty(b, loc, sliceType, sliceSizes), state[1]},
          {map, map, map},
          SmallVector<utils::IteratorType>(sliceType.getRank(),
                                           utils::IteratorType::parallel),
          [&](OpBuilder &b, Location loc, ValueRange args) {
            auto [shown, sum] = scan.step(b, loc, args[0], args[2]);
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
};

} // namespace

void loops::populateScanToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter) {
  patterns.add<LowerCumSum, LowerRowScan>(converter, patterns.getContext());
}
