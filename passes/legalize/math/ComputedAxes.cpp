//===- ComputedAxes.cpp - reductions over computed axes -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/ComputedShape.h"
#include "passes/legalize/math/ComputedAxes.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using nn::ReduceKind;

FailureOr<ComputedAxes> legalize::readComputedAxes(Node &node, size_t i) {
  RankedTensorType type = node.type(i);
  if (type.getRank() != 1 || !type.hasStaticShape())
    return node.unsupported("a computed number of axes");
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  int64_t rank = node.rank(0);
  ComputedAxes axes;
  axes.count = type.getDimSize(0);
  if (axes.count > rank)
    return node.badLength("axes", axes.count, "at most " + Twine(rank));
  for (int64_t d = 0; d < rank; ++d)
    axes.isReduced.push_back(
        arith::ConstantOp::create(b, loc, b.getBoolAttr(false)));
  for (int64_t k = 0; k < axes.count; ++k) {
    Value at = arith::ConstantIndexOp::create(b, loc, k);
    Value axis =
        tensor::ExtractOp::create(b, loc, node.input(i), ValueRange(at));
    axis = arith::IndexCastOp::create(b, loc, b.getIndexType(), axis);
    requireAxis(node, axis, rank);
    for (int64_t d = 0; d < rank; ++d)
      for (int64_t name : {d, d - rank}) {
        Value named = arith::ConstantIndexOp::create(b, loc, name);
        Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                           axis, named);
        axes.isReduced[d] =
            arith::OrIOp::create(b, loc, axes.isReduced[d], same);
      }
  }
  if (axes.count > 1) {
    Indices i{b, loc};
    Value sum = i.n(0);
    for (Value isReduced : axes.isReduced)
      sum = i.add(sum, i.choose(isReduced, i.n(1), i.n(0)));
    require(b, loc, i.equal(sum, i.n(axes.count)),
            "{1} axes name {0} dimensions: one of them twice",
            {sum, i.n(axes.count)});
  }
  return axes;
}

//===----------------------------------------------------------------------===//
// The reduction
//===----------------------------------------------------------------------===//

/// Returns the type of the accumulator: i64 for integers of any width.
static Type workType(Node &node, Type element) {
  return isa<FloatType>(element)
             ? (element.isF64() ? element : Type(node.builder.getF32Type()))
             : Type(node.builder.getI64Type());
}

static Value constantOf(OpBuilder &b, Location loc, Type type, double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  return arith::ConstantOp::create(b, loc,
                                   b.getIntegerAttr(type, int64_t(value)));
}

/// Returns the initial value of the reduction. For max and min, it is the
/// lowest or highest value of the element type, which ONNX specifies for empty
/// sets.
static Value initialOf(OpBuilder &b, Location loc, Type work, Type element,
                       ReduceKind kind) {
  bool isMax = kind == ReduceKind::max;
  if (!isMax && kind != ReduceKind::min)
    return constantOf(b, loc, work, kind == ReduceKind::prod ? 1 : 0);
  if (isa<FloatType>(work)) {
    double infinity = std::numeric_limits<double>::infinity();
    return constantOf(b, loc, work, isMax ? -infinity : infinity);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isUnsigned = element.isUnsignedInteger() || width == 1;
  APInt value = isUnsigned ? (isMax ? APInt::getMinValue(width)
                                    : APInt::getMaxValue(width))
                           : (isMax ? APInt::getSignedMinValue(width)
                                    : APInt::getSignedMaxValue(width));
  int64_t number =
      isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue();
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(number));
}

static Value combine(OpBuilder &b, Location loc, ReduceKind kind, Value acc,
                     Value x) {
  bool isFloat = isa<FloatType>(acc.getType());
  switch (kind) {
  case ReduceKind::sum_square:
    x = isFloat ? Value(arith::MulFOp::create(b, loc, x, x))
                : Value(arith::MulIOp::create(b, loc, x, x));
    [[fallthrough]];
  case ReduceKind::sum:
  case ReduceKind::mean:
    return isFloat ? Value(arith::AddFOp::create(b, loc, acc, x))
                   : Value(arith::AddIOp::create(b, loc, acc, x));
  case ReduceKind::prod:
    return isFloat ? Value(arith::MulFOp::create(b, loc, acc, x))
                   : Value(arith::MulIOp::create(b, loc, acc, x));
  case ReduceKind::max:
    return isFloat ? Value(arith::MaximumFOp::create(b, loc, acc, x))
                   : Value(arith::MaxSIOp::create(b, loc, acc, x));
  case ReduceKind::min:
    return isFloat ? Value(arith::MinimumFOp::create(b, loc, acc, x))
                   : Value(arith::MinSIOp::create(b, loc, acc, x));
  }
  llvm_unreachable("unknown kind");
}

/// Divides by the number of reduced elements.
static Value divide(OpBuilder &b, Location loc, Value sum,
                    ArrayRef<Value> extents) {
  Value count = arith::ConstantIndexOp::create(b, loc, 1);
  for (Value extent : extents)
    count = arith::MulIOp::create(b, loc, count, extent);
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), count);
  if (!isa<FloatType>(sum.getType()))
    return arith::DivSIOp::create(b, loc, sum, number);
  number = arith::SIToFPOp::create(b, loc, sum.getType(), number);
  return arith::DivFOp::create(b, loc, sum, number);
}

/// Returns the sizes of the dimensions that are not reduced, in order.
static Sizes keptSizes(Node &node, Value x, const ComputedAxes &axes) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  int64_t rank = typeOf(x).getRank(), left = rank - axes.count;
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> sizes(left, one);
  Value before = zero;
  for (int64_t d = 0; d < rank; ++d) {
    Value size = indexValue(node, sizeOf(node, x, d));
    Value reduced = axes.isReduced[d];
    for (int64_t k = 0; k < left; ++k) {
      Value position = arith::ConstantIndexOp::create(b, loc, k);
      Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         before, position);
      Value other = arith::SelectOp::create(b, loc, reduced, sizes[k], size);
      sizes[k] = arith::SelectOp::create(b, loc, here, other, sizes[k]);
    }
    Value step = arith::SelectOp::create(b, loc, reduced, zero, one);
    before = arith::AddIOp::create(b, loc, before, step);
  }
  return Sizes(sizes.begin(), sizes.end());
}

Value legalize::reduceComputed(Node &node, Value x, ReduceKind kind,
                               const ComputedAxes &axes, bool keepDims) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Type element = typeOf(x).getElementType(), work = workType(node, element);
  Value source = node.cast(x, work);
  int64_t rank = typeOf(x).getRank();
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Sizes resultSizes;
  SmallVector<Value> extents;
  for (int64_t d = 0; d < rank; ++d) {
    Value size = indexValue(node, sizeOf(node, x, d));
    extents.push_back(
        arith::SelectOp::create(b, loc, axes.isReduced[d], size, one));
    resultSizes.push_back(
        Value(arith::SelectOp::create(b, loc, axes.isReduced[d], one, size)));
  }
  Value initial = initialOf(b, loc, work, element, kind);
  Value y = generate(
      node, work, resultSizes,
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        // Create a loop per dimension. The loop runs over the whole dimension
        // if the dimension is reduced. Otherwise it has one step.
        SmallVector<Value> lows(indices), highs;
        for (int64_t d = 0; d < rank; ++d)
          highs.push_back(
              arith::AddIOp::create(b, loc, indices[d], extents[d]));
        SmallVector<Value> steps(rank, one);
        auto nest = scf::buildLoopNest(
            b, loc, lows, highs, steps, initial,
            [&](OpBuilder &b, Location loc, ValueRange at, ValueRange state) {
              Value v = tensor::ExtractOp::create(b, loc, source, at);
              return scf::ValueVector{combine(b, loc, kind, state[0], v)};
            });
        Value result = nest.results[0];
        return kind == ReduceKind::mean ? divide(b, loc, result, extents)
                                        : result;
      });
  y = node.cast(y, element);
  return keepDims ? y : reshape(node, y, keptSizes(node, x, axes));
}
