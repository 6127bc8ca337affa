//===- IndexingToLinalg.cpp - gather and scatter --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/RequireIndices.h"
#include "passes/support/Tensors.h"
#include "passes/support/Updates.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::loops;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Indices that stay inside a tensor for all run-time sizes
//===----------------------------------------------------------------------===//

/// The extent that marks a coordinate that is already in range.
static constexpr int64_t kHeld = 0;

/// Clamps the indices `at` to `tensor`. Coordinate i runs over `extents[i]`
/// positions of another tensor. Clamping is necessary because the sizes of the
/// two tensors may differ.
static SmallVector<Value> holdWithin(OpBuilder &b, Location loc, Value tensor,
                                     ValueRange at,
                                     ArrayRef<int64_t> extents) {
  SmallVector<Value> held(at);
  for (auto [i, extent] : llvm::enumerate(extents)) {
    int64_t size = typeOf(tensor).getDimSize(i);
    if (extent == kHeld || (!ShapedType::isDynamic(size) &&
                            !ShapedType::isDynamic(extent) && extent <= size))
      continue;
    Value last = arith::SubIOp::create(b, loc, sizeOf(b, loc, tensor, i),
                                       indexConstant(b, loc, 1));
    held[i] = arith::MinSIOp::create(b, loc, held[i], last);
  }
  return held;
}

/// Returns a condition that is true if `tensor` has elements; null if that is
/// certain.
static Value hasElements(OpBuilder &b, Location loc, Value tensor) {
  Value zero = indexConstant(b, loc, 0), result;
  for (auto [i, size] : llvm::enumerate(typeOf(tensor).getShape())) {
    if (!ShapedType::isDynamic(size) && size != 0)
      continue;
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt,
                                       sizeOf(b, loc, tensor, i), zero);
    result = result ? arith::AndIOp::create(b, loc, result, some) : some;
  }
  return result;
}

/// Returns the element at `at`, clamped as in holdWithin, or zero if the tensor
/// is empty.
static Value extract(OpBuilder &b, Location loc, Value tensor, ValueRange at,
                     ArrayRef<int64_t> extents) {
  auto read = [&](OpBuilder &b, Location loc) -> Value {
    return tensor::ExtractOp::create(b, loc, tensor,
                                     holdWithin(b, loc, tensor, at, extents));
  };
  Value condition = hasElements(b, loc, tensor);
  if (!condition)
    return read(b, loc);
  auto choice = scf::IfOp::create(
      b, loc, condition,
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, read(b, loc));
      },
      [&](OpBuilder &b, Location loc) {
        Type type = typeOf(tensor).getElementType();
        Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
        scf::YieldOp::create(b, loc, zero);
      });
  return choice.getResult(0);
}

/// Returns `shape` with dimension `axis` marked as in range.
static SmallVector<int64_t> extentsBut(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> extents(shape);
  extents[axis] = kHeld;
  return extents;
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

namespace {

struct LowerGather : OpConversionPattern<nn::GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX(), indices = adaptor.getIndices();
    int64_t axis = op.getAxis(), depth = typeOf(indices).getRank();
    Sizes data = sizesOf(rewriter, loc, x),
          sizes = resultSizes(rewriter, op->getResult(0));
    requireIndices(rewriter, loc, indices, data[axis]);
    Value y = generate(
        rewriter, loc, sizes, typeOf(x).getElementType(),
        [&](OpBuilder &b, Location loc, ValueRange at) {
          Value entry = tensor::ExtractOp::create(b, loc, indices,
                                                  at.slice(axis, depth));
          SmallVector<Value> from(at.take_front(axis));
          from.push_back(
              safeIndex(b, loc, entry, indexValue(b, loc, data[axis])));
          llvm::append_range(from, at.drop_front(axis + depth));
          return extract(b, loc, x, from, /*extents=*/{});
        });
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

struct LowerGatherElements : OpConversionPattern<nn::GatherElementsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::GatherElementsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX(), indices = adaptor.getIndices();
    Value size = sizeOf(rewriter, loc, x, op.getAxis());
    requireIndices(rewriter, loc, indices, OpFoldResult(size));
    Value y = generate(
        rewriter, loc, resultSizes(rewriter, op->getResult(0)),
        typeOf(x).getElementType(),
        [&](OpBuilder &b, Location loc, ValueRange at) {
          Value entry = tensor::ExtractOp::create(b, loc, indices, at);
          SmallVector<Value> from(at);
          from[op.getAxis()] = safeIndex(b, loc, entry, size);
          return extract(b, loc, x, from,
                         extentsBut(typeOf(indices).getShape(), op.getAxis()));
        });
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

struct LowerGatherND : OpConversionPattern<nn::GatherNDOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::GatherNDOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX(), indices = adaptor.getIndices();
    int64_t outer = typeOf(indices).getRank() - 1;
    int64_t depth = typeOf(indices).getShape().back();
    int64_t batch = op.getBatchDims();
    Sizes data = sizesOf(rewriter, loc, x),
          sizes = resultSizes(rewriter, op->getResult(0));
    requireIndices(rewriter, loc, indices,
                   ArrayRef(data).slice(batch, depth));
    Value y = generate(
        rewriter, loc, sizes, typeOf(x).getElementType(),
        [&](OpBuilder &b, Location loc, ValueRange at) {
          SmallVector<Value> from(at.take_front(batch));
          SmallVector<Value> where(at.take_front(outer));
          where.push_back(Value());
          for (int64_t i = 0; i < depth; ++i) {
            where.back() = indexConstant(b, loc, i);
            Value entry = tensor::ExtractOp::create(b, loc, indices, where);
            from.push_back(safeIndex(b, loc, entry,
                                     indexValue(b, loc, data[batch + i])));
          }
          llvm::append_range(from, at.drop_front(outer));
          return extract(b, loc, x, from,
                         typeOf(indices).getShape().take_front(batch));
        });
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Returns x after an update by each element of `updates`, in order. `locate`
/// returns the position of an update in x.
static Value
scatter(OpBuilder &builder, Location loc, Value x, Value updates,
        const UpdateRule &rule,
        function_ref<SmallVector<Value>(OpBuilder &, Location, ValueRange)>
            locate) {
  Value zero = indexConstant(builder, loc, 0),
        one = indexConstant(builder, loc, 1);
  SmallVector<Value> lows, highs, steps;
  for (OpFoldResult size : sizesOf(builder, loc, updates)) {
    lows.push_back(zero);
    highs.push_back(indexValue(builder, loc, size));
    steps.push_back(one);
  }
  // Takes no steps if x is empty.
  Value condition = hasElements(builder, loc, x);
  if (!highs.empty() && condition)
    highs.front() = arith::SelectOp::create(builder, loc, condition,
                                            highs.front(), zero);
  auto update = [&](OpBuilder &b, Location loc, ValueRange at,
                    Value into) -> Value {
    SmallVector<Value> to = locate(b, loc, at);
    Value value = tensor::ExtractOp::create(b, loc, updates, at);
    if (rule.reduction != nn::ScatterReduction::none) {
      Value old = tensor::ExtractOp::create(b, loc, into, to);
      value = rule.combine(b, loc, old, value);
    }
    return tensor::InsertOp::create(b, loc, value, into, to);
  };
  if (lows.empty())
    return update(builder, loc, {}, x);
  scf::LoopNest nest = scf::buildLoopNest(
      builder, loc, lows, highs, steps, x,
      [&](OpBuilder &b, Location loc, ValueRange at, ValueRange args) {
        return scf::ValueVector{update(b, loc, at, args[0])};
      });
  return nest.results.front();
}

namespace {

struct LowerScatterElements : OpConversionPattern<nn::ScatterElementsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ScatterElementsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX(), indices = adaptor.getIndices(), y = x;
    int64_t axis = op.getAxis();
    ArrayRef<int64_t> extents = typeOf(adaptor.getUpdates()).getShape();
    Value size = sizeOf(rewriter, loc, x, axis);
    requireIndices(rewriter, loc, indices, OpFoldResult(size));
    if (!isKnownEmpty(shapeOf(x)))
      y = scatter(rewriter, loc, x, adaptor.getUpdates(),
                  {op.getReduction(), isUnsigned(op.getX().getType())},
                  [&](OpBuilder &b, Location loc, ValueRange at) {
                    Value entry = extract(b, loc, indices, at, extents);
                    SmallVector<Value> to(at);
                    to[axis] = safeIndex(b, loc, entry, size);
                    return holdWithin(b, loc, x, to, extentsBut(extents, axis));
                  });
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

struct LowerScatterND : OpConversionPattern<nn::ScatterNDOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::ScatterNDOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getX(), indices = adaptor.getIndices(), y = x;
    int64_t outer = typeOf(indices).getRank() - 1;
    int64_t depth = typeOf(indices).getShape().back();
    ArrayRef<int64_t> extents = typeOf(adaptor.getUpdates()).getShape();
    SmallVector<int64_t> held(depth, kHeld);
    llvm::append_range(held, extents.drop_front(outer));
    Sizes data = sizesOf(rewriter, loc, x);
    requireIndices(rewriter, loc, indices, ArrayRef(data).take_front(depth));
    if (!isKnownEmpty(shapeOf(x)))
      y = scatter(
          rewriter, loc, x, adaptor.getUpdates(),
          {op.getReduction(), isUnsigned(op.getX().getType())},
          [&](OpBuilder &b, Location loc, ValueRange at) {
            SmallVector<Value> to, where(at.take_front(outer));
            where.push_back(Value());
            for (int64_t i = 0; i < depth; ++i) {
              where.back() = indexConstant(b, loc, i);
              Value entry =
                  extract(b, loc, indices, where, extents.take_front(outer));
              to.push_back(
                  safeIndex(b, loc, entry, indexValue(b, loc, data[i])));
            }
            llvm::append_range(to, at.drop_front(outer));
            return holdWithin(b, loc, x, to, held);
          });
    rewriter.replaceOp(
        op, castTo(rewriter, loc, y, signless(getTypeConverter(), op)));
    return success();
  }
};

} // namespace

void loops::populateIndexingToLinalg(RewritePatternSet &patterns,
                                     const TypeConverter &converter) {
  patterns.add<LowerGather, LowerGatherElements, LowerGatherND,
               LowerScatterElements, LowerScatterND>(converter,
                                                     patterns.getContext());
}
