//===- Reduction.cpp - reductions, arg max, scans, global pooling ---------===//
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

namespace {

/// Reduced axes, sorted. `keepDims` is true if they stay as dimensions of 1.
struct Axes {
  SmallVector<int64_t> axes;
  bool keepDims;
  std::optional<ComputedAxes> computed = {};
};

} // namespace

/// Reads the axes: an attribute, or an input since opset 13 (ReduceSum) or 18.
static FailureOr<Axes> readAxes(Node &node) {
  std::optional<SmallVector<int64_t>> given = node.getInts("axes");
  if (node.has(1)) {
    given = node.getConstantInts(1);
    if (!given) {
      FailureOr<ComputedAxes> computed = readComputedAxes(node, 1);
      if (failed(computed))
        return failure();
      if (computed->count > 0)
        return Axes{{}, node.getInt("keepdims", 1) != 0, *computed};
    }
  }
  Axes result;
  result.keepDims = node.getInt("keepdims", 1) != 0;
  int64_t rank = node.rank(0);
  if (!given || given->empty()) {
    if (node.getInt("noop_with_empty_axes", 0) == 0)
      result.axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    return result;
  }
  FailureOr<SmallVector<int64_t>> normal = normalizeAxes(node, *given, rank);
  if (failed(normal))
    return failure();
  result.axes = *normal;
  llvm::sort(result.axes);
  return result;
}

static Value reduce(Node &node, Value x, ReduceKind kind, const Axes &axes) {
  if (axes.computed)
    return reduceComputed(node, x, kind, *axes.computed, axes.keepDims);
  return node.make<nn::ReduceOp>(x, kind, axes.axes, axes.keepDims);
}

template <ReduceKind kind> static LogicalResult legalizeReduce(Node &node) {
  FailureOr<Axes> axes = readAxes(node);
  if (failed(axes))
    return failure();
  return node.replace(reduce(node, node.input(0), kind, *axes));
}

/// Returns the type for logarithms and roots. Integers use f64.
static Type realType(Node &node) {
  Type type = node.elementType(0);
  return isa<FloatType>(type) ? type : Type(node.builder.getF64Type());
}

static LogicalResult replaceReal(Node &node, Value y) {
  return node.replace(node.cast(y, node.elementType(0)));
}

static LogicalResult legalizeReduceL1(Node &node) {
  FailureOr<Axes> axes = readAxes(node);
  if (failed(axes))
    return failure();
  Value magnitude = node.make<nn::AbsOp>(node.input(0));
  return node.replace(reduce(node, magnitude, ReduceKind::sum, *axes));
}

static LogicalResult legalizeReduceL2(Node &node) {
  FailureOr<Axes> axes = readAxes(node);
  if (failed(axes))
    return failure();
  Value x = node.cast(node.input(0), realType(node));
  Value sum = reduce(node, x, ReduceKind::sum_square, *axes);
  return replaceReal(node, node.make<nn::SqrtOp>(sum));
}

static LogicalResult legalizeReduceLogSum(Node &node) {
  FailureOr<Axes> axes = readAxes(node);
  if (failed(axes))
    return failure();
  Value x = node.cast(node.input(0), realType(node));
  Value sum = reduce(node, x, ReduceKind::sum, *axes);
  return replaceReal(node, node.make<nn::LogOp>(sum));
}

/// Computes max + ln(sum of e^(x - max)), which does not overflow. If the
/// maximum is infinite, subtracts 0 instead of the maximum, because inf - inf
/// would be NaN.
static LogicalResult legalizeReduceLogSumExp(Node &node) {
  FailureOr<Axes> axes = readAxes(node);
  if (failed(axes))
    return failure();
  Type type = realType(node);
  Value x = node.cast(node.input(0), type);
  auto shift = [&](bool keepDims) {
    Value max = reduce(node, x, ReduceKind::max,
                       {axes->axes, keepDims, axes->computed});
    Value isInf = node.make<nn::IsInfOp>(max, true, true);
    return node.make<nn::SelectOp>(isInf, node.scalar(type, 0), max);
  };
  Value powers = node.make<nn::ExpOp>(node.make<nn::SubOp>(x, shift(true)));
  Value sum = reduce(node, powers, ReduceKind::sum, *axes);
  Value log = node.make<nn::LogOp>(sum);
  return replaceReal(node,
                     node.make<nn::AddOp>(log, shift(axes->keepDims)));
}

//===----------------------------------------------------------------------===//
// Operators along one axis
//===----------------------------------------------------------------------===//

template <ReduceKind kind> static LogicalResult legalizeArg(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  auto y = node.infer<nn::ArgReduceOp>(
      node.input(0), kind, *axis, node.getInt("keepdims", 1) != 0,
      node.getInt("select_last_index", 0) != 0);
  return failed(y) ? failure() : node.replace(*y);
}

template <bool product> static LogicalResult legalizeScan(Node &node) {
  auto scan = [&](OpBuilder &b, int64_t axis) -> Value {
    return nn::CumSumOp::create(b, node.loc(), node.input(0), axis,
                                node.getInt("exclusive", 0) != 0,
                                node.getInt("reverse", 0) != 0, product);
  };
  int64_t rank = node.rank(0);
  std::optional<SmallVector<int64_t>> given = node.getConstantInts(1);
  if (given && given->size() == 1) {
    auto axis = node.normalizeAxis((*given)[0], rank);
    return failed(axis) ? failure() : node.replace(scan(node.builder, *axis));
  }
  RankedTensorType type = node.type(1);
  if (given || !type.hasStaticShape() || type.getNumElements() != 1)
    return node.invalid("the axis is not a scalar");
  if (rank == 0)
    return node.invalid("expects data of rank 1 or more");
  // If the axis is computed, compute one scan per axis, and select the result
  // at run time.
  OpBuilder &b = node.builder;
  Value zero = arith::ConstantIndexOp::create(b, node.loc(), 0);
  Value axis = tensor::ExtractOp::create(
      b, node.loc(), node.input(1), SmallVector<Value>(type.getRank(), zero));
  axis = arith::IndexCastOp::create(b, node.loc(), b.getIndexType(), axis);
  requireAxis(node, axis, rank);
  Value y = scan(b, rank - 1);
  for (int64_t d = rank - 2; d >= 0; --d) {
    auto is = [&](int64_t name) -> Value {
      Value named = arith::ConstantIndexOp::create(b, node.loc(), name);
      return arith::CmpIOp::create(b, node.loc(), arith::CmpIPredicate::eq,
                                   axis, named);
    };
    Value here = arith::OrIOp::create(b, node.loc(), is(d), is(d - rank));
    Value condition = tensor::FromElementsOp::create(
        b, node.loc(), RankedTensorType::get({}, b.getI1Type()), here);
    y = node.make<nn::SelectOp>(condition, scan(b, d), y);
  }
  return node.replace(y);
}

/// Reads a computed k. nn-require-sizes checks that the axis has k elements.
static Value readCount(Node &node) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value k = tensor::ExtractOp::create(b, loc, node.input(1),
                                      SmallVector<Value>(node.rank(1), zero));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), k);
}

static LogicalResult legalizeTopK(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis))
    return failure();
  int64_t k = node.getInt("k", -1), size = node.shape(0)[*axis];
  Value count;
  if (node.numInputs() > 1) {
    std::optional<SmallVector<int64_t>> given = node.getConstantInts(1);
    pinToOne(node, 1, "k");
    RankedTensorType type = node.type(1);
    if (!type.hasStaticShape() || type.getNumElements() != 1)
      return node.invalid("k is not a scalar");
    if (given)
      k = (*given)[0];
    else
      count = readCount(node);
  }
  if (count)
    k = ShapedType::isDynamic(size) ? std::numeric_limits<int64_t>::max()
                                    : size;
  else if (k < 0 || (!ShapedType::isDynamic(size) && k > size))
    return node.badElement(
        node.numInputs() > 1 ? "K" : "k", std::nullopt, Twine(k),
        ShapedType::isDynamic(size) ? "at least 0"
                                    : nn::describeRange({0, size}));
  auto op = nn::TopKOp::create(node.builder, node.loc(), node.input(0), count,
                               k, *axis, node.getInt("largest", 1) == 0);
  return node.replace({op.getValues(), op.getIndices()});
}

/// Computes 1 at the first maximum of `x` along a non-empty axis, and 0
/// elsewhere.
static FailureOr<Value> markMaxima(Node &node, Value x, int64_t axis) {
  auto best = node.infer<nn::ArgReduceOp>(x, ReduceKind::max, axis,
                                          /*keep_dims=*/true,
                                          /*select_last_index=*/false);
  if (failed(best))
    return failure();
  Sizes shape(typeOf(x).getRank() - axis, sizeAttr(node, 1));
  shape[0] = sizeOf(node, x, axis);
  Value hit = node.make<nn::EqualOp>(*best, countUp(node, shape));
  return node.cast(hit, typeOf(x).getElementType());
}

/// Computes markMaxima, or an empty result if the axis is empty.
static FailureOr<Value> markAnyMaxima(Node &node, Value x, int64_t axis) {
  RankedTensorType type = typeOf(x);
  if (!type.isDynamicDim(axis))
    return markMaxima(node, x, axis);
  Sizes sizes = sizesOf(node, x);
  Indices i{node.builder, node.loc()};
  Value isEmpty = i.equal(indexValue(node, sizes[axis]), i.n(0));
  FailureOr<Value> marked = failure();
  auto yield = [&](OpBuilder &b, Location loc, Value y) {
    if (y.getType() != type)
      y = tensor::CastOp::create(b, loc, type, y);
    scf::YieldOp::create(b, loc, y);
  };
  auto chosen = scf::IfOp::create(
      node.builder, node.loc(), isEmpty,
      [&](OpBuilder &b, Location loc) {
        sizes[axis] = sizeAttr(node, 0);
        yield(b, loc, filled(node, type.getElementType(), 0, sizes));
      },
      [&](OpBuilder &b, Location loc) {
        marked = markMaxima(node, x, axis);
        yield(b, loc, succeeded(marked) ? *marked : x);
      });
  if (failed(marked))
    return failure();
  return Value(chosen.getResult(0));
}

/// Legalizes Hardmax. Up to opset 12, it is over all dimensions from the axis
/// on.
static LogicalResult legalizeHardmax(Node &node) {
  bool flattens = node.opset < 13;
  int64_t rank = node.rank(0);
  auto axis = node.normalizeAxis(node.getInt("axis", flattens ? 1 : -1), rank);
  if (failed(axis))
    return failure();
  Value x = node.input(0);
  Sizes sizes = sizesOf(node, x);
  if (flattens && *axis != rank - 1) {
    Sizes flat(2, sizeAttr(node, 1));
    for (int64_t i = 0; i < rank; ++i)
      flat[i < *axis ? 0 : 1] =
          mulSizes(node, flat[i < *axis ? 0 : 1], sizes[i]);
    x = reshape(node, x, flat);
    *axis = 1;
  }
  auto flat = cast<RankedTensorType>(x.getType());
  if (flat.getDimSize(*axis) == 0) // The result is empty, too.
    return node.replace(node.input(0));
  auto y = markAnyMaxima(node, x, *axis);
  if (failed(y))
    return failure();
  return node.replace(x == node.input(0) ? *y : reshape(node, *y, sizes));
}

//===----------------------------------------------------------------------===//
// Global pooling
//===----------------------------------------------------------------------===//

static FailureOr<Axes> spatialAxes(Node &node) {
  if (node.rank(0) < 2)
    return node.invalid("expects data of rank 2 or more, but got " +
                        Twine(node.rank(0)));
  return Axes{llvm::to_vector(llvm::seq<int64_t>(2, node.rank(0))), true};
}

template <ReduceKind kind> static LogicalResult legalizeGlobalPool(Node &node) {
  FailureOr<Axes> axes = spatialAxes(node);
  if (failed(axes))
    return failure();
  // Reject an empty dimension, because it has no maximum.
  for (int64_t axis : axes->axes) {
    if (kind != ReduceKind::max)
      break;
    std::string what = "expects elements to pool, but spatial dimension " +
                       std::to_string(axis - 2) + " has ";
    if (node.shape(0)[axis] == 0)
      return node.invalid(what + "0");
    if (!node.type(0).isDynamicDim(axis))
      continue;
    Indices i{node.builder, node.loc()};
    Value size = indexValue(node, sizeOf(node, node.input(0), axis));
    require(i.b, i.loc, i.less(i.n(0), size), what + "{0}", size);
  }
  return node.replace(reduce(node, node.input(0), kind, *axes));
}

/// Computes (sum of |x|^p)^(1/p).
static LogicalResult legalizeGlobalLpPool(Node &node) {
  FailureOr<Axes> axes = spatialAxes(node);
  if (failed(axes))
    return failure();
  int64_t p = node.getInt("p", 2);
  if (p < 1)
    return node.invalid("p is " + Twine(p));
  Value x = node.input(0);
  Type type = node.elementType(0);
  if (p == 2)
    return node.replace(node.make<nn::SqrtOp>(
        reduce(node, x, ReduceKind::sum_square, *axes)));
  Value magnitude = node.make<nn::AbsOp>(x);
  if (p == 1)
    return node.replace(reduce(node, magnitude, ReduceKind::sum, *axes));
  Value powers = node.make<nn::PowOp>(magnitude, node.scalar(type, p));
  Value sum = reduce(node, powers, ReduceKind::sum, *axes);
  return node.replace(
      node.make<nn::PowOp>(sum, node.scalar(type, 1.0 / p)));
}

void legalize::populateReduction(Legalizers &legalizers) {
  legalizers.add("ReduceSum", legalizeReduce<ReduceKind::sum>);
  legalizers.add("ReduceMean", legalizeReduce<ReduceKind::mean>);
  legalizers.add("ReduceMax", legalizeReduce<ReduceKind::max>);
  legalizers.add("ReduceMin", legalizeReduce<ReduceKind::min>);
  legalizers.add("ReduceProd", legalizeReduce<ReduceKind::prod>);
  legalizers.add("ReduceSumSquare", legalizeReduce<ReduceKind::sum_square>);
  legalizers.add("ReduceL1", legalizeReduceL1);
  legalizers.add("ReduceL2", legalizeReduceL2);
  legalizers.add("ReduceLogSum", legalizeReduceLogSum);
  legalizers.add("ReduceLogSumExp", legalizeReduceLogSumExp);
  legalizers.add("ArgMax", legalizeArg<ReduceKind::max>);
  legalizers.add("ArgMin", legalizeArg<ReduceKind::min>);
  legalizers.add("CumSum", legalizeScan<false>);
  legalizers.add("CumProd", legalizeScan<true>);
  legalizers.add("TopK", legalizeTopK);
  legalizers.add("Hardmax", legalizeHardmax);
  legalizers.add("GlobalAveragePool", legalizeGlobalPool<ReduceKind::mean>);
  legalizers.add("GlobalMaxPool", legalizeGlobalPool<ReduceKind::max>);
  legalizers.add("GlobalLpPool", legalizeGlobalLpPool);
}
