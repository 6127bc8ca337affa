//===- ComputedFourier.cpp - DFT and STFT of dynamic length ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes DFT and STFT that cannot be products with constant matrices. The
// number of points and their strides are computed at run time.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/signal/ComputedFourier.h"

#include "passes/legalize/core/ComputedShape.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/legalize/signal/FastFourier.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

FailureOr<Value> legalize::computedScalar(Node &node, size_t i,
                                          StringRef name) {
  RankedTensorType type = node.type(i);
  if (!type.getElementType().isInteger() || type.getRank() > 1 ||
      (type.getRank() == 1 && type.getDimSize(0) != 1))
    return node.invalid(name + " is not a scalar");
  OpBuilder &b = node.builder;
  SmallVector<Value> at(type.getRank());
  for (Value &index : at)
    index = arith::ConstantIndexOp::create(b, node.loc(), 0);
  Value x = node.cast(node.input(i), b.getI64Type());
  Value number = tensor::ExtractOp::create(b, node.loc(), x, at);
  return Value(arith::IndexCastOp::create(b, node.loc(), b.getIndexType(),
                                          number));
}

/// Returns the single integer of an input as a size.
static FailureOr<OpFoldResult> scalarSize(Node &node, size_t i,
                                          StringRef name) {
  if (auto known = node.getConstantInts(i); known && known->size() == 1)
    return sizeAttr(node, known->front());
  auto computed = computedScalar(node, i, name);
  if (failed(computed))
    return failure();
  return OpFoldResult(*computed);
}

/// Returns the element type that transforms read and write.
static Type transformType(Node &node) {
  OpBuilder &b = node.builder;
  return node.elementType(0).isF64() ? Type(b.getF64Type()) : b.getF32Type();
}

static void requirePositive(Node &node, Value size, const Twine &what) {
  Indices i{node.builder, node.loc()};
  require(node.builder, node.loc(), i.less(i.n(0), size),
          what + " is {0}, but must be at least 1", {size});
}

/// Requires at run time that a transform of this length is possible.
static void requireLength(Node &node, Value length, const Twine &what) {
  requirePositive(node, length, what);
  Indices i{node.builder, node.loc()};
  require(node.builder, node.loc(), i.less(length, i.n(kMaxPoints + 1)),
          what + " is {0}, but must be at most {1}", {length, i.n(kMaxPoints)});
}

/// Reshapes x to rank 1.
static Value flat(Node &node, Value x) {
  return reshape(
      node, x,
      {support::productOf(node.builder, node.loc(), sizesOf(node, x))});
}

/// Returns the transforms of x as a tensor of `sizes`.
static Value transformAll(Node &node, Value x, ArrayRef<OpFoldResult> sizes,
                          const LineTransforms &lines) {
  OpBuilder &b = node.builder;
  OpFoldResult count = support::productOf(b, node.loc(), sizes);
  Value results =
      tensor::EmptyOp::create(b, node.loc(), ArrayRef<OpFoldResult>(count),
                              typeOf(x).getElementType());
  results = transformLines(node, flat(node, x), results, lines);
  return castTo(node, reshape(node, results, sizes), node.elementType(0));
}

namespace {

/// Axis of a DFT, either a constant or computed at run time.
struct Axis {
  /// Position of the axis relative to a dimension.
  enum Place { before, same, behind };

  /// Returns `yes` if the axis is at `place`, else `no`.
  OpFoldResult choose(Node &node, Place place, int64_t dim, OpFoldResult yes,
                      OpFoldResult no) const {
    if (number) {
      Place found = *number < dim ? before : *number == dim ? same : behind;
      return found == place ? yes : no;
    }
    Indices i{node.builder, node.loc()};
    Value at = i.n(dim);
    Value isThere = place == before ? i.less(value, at)
                    : place == same ? i.equal(value, at)
                                    : i.less(at, value);
    return i.choose(isThere, indexValue(node, yes), indexValue(node, no));
  }

  std::optional<int64_t> number;
  Value value;
};

} // namespace

static FailureOr<Axis> computedAxis(Node &node) {
  int64_t rank = node.rank(0);
  auto given = computedScalar(node, 2, "axis");
  if (failed(given))
    return failure();
  requireAxis(node, *given, rank);
  Indices i{node.builder, node.loc()};
  Value axis = i.wrap(*given, i.n(rank));
  require(node.builder, node.loc(), i.less(axis, i.n(rank - 1)),
          "axis {0} is that of real and imaginary parts", {axis});
  return Axis{std::nullopt, axis};
}

LogicalResult legalize::legalizeComputedDFT(Node &node,
                                            std::optional<int64_t> known) {
  OpBuilder &b = node.builder;
  Indices i{b, node.loc()};
  int64_t rank = node.rank(0), parts = node.shape(0).back();
  bool inverse = node.getInt("inverse", 0),
       oneSided = node.getInt("onesided", 0), fromHalf = inverse && oneSided;
  FailureOr<Axis> axis = known ? Axis{known, Value()} : computedAxis(node);
  if (failed(axis))
    return failure();
  Value x = castTo(node, node.input(0), transformType(node));
  Sizes sizes = sizesOf(node, x);
  OpFoldResult one = sizeAttr(node, 1), two = sizeAttr(node, 2);
  OpFoldResult size = one, outer = one, inner = one;
  for (int64_t d = 0; d < rank - 1; ++d) {
    size = axis->choose(node, Axis::same, d, sizes[d], size);
    outer = mulSizes(node, outer,
                     axis->choose(node, Axis::behind, d, sizes[d], one));
    inner = mulSizes(node, inner,
                     axis->choose(node, Axis::before, d, sizes[d], one));
  }
  OpFoldResult length =
      fromHalf ? mulSizes(node, subSizes(node, size, one), two) : size;
  if (node.has(1)) {
    auto given = scalarSize(node, 1, "dft_length");
    if (failed(given))
      return failure();
    length = *given;
  }
  requireLength(node, indexValue(node, length), "dft_length");
  OpFoldResult half = addSizes(node, divSizes(node, length, two), one);
  OpFoldResult outputs = oneSided && !inverse ? half : length;
  LineTransforms lines;
  lines.outer = indexValue(node, outer);
  lines.inner = indexValue(node, inner);
  lines.length = indexValue(node, length);
  lines.inverse = inverse;
  lines.readsComplex = parts == 2;
  lines.writesComplex = !fromHalf;
  lines.inputs =
      indexValue(node, minSizes(node, size, fromHalf ? half : length));
  lines.outputs = indexValue(node, outputs);
  auto place = [&](OpFoldResult points, int64_t parts) -> Lines {
    Value perPoint = i.mul(lines.inner, i.n(parts));
    return {i.mul(indexValue(node, points), perPoint), i.n(parts), perPoint};
  };
  lines.from = place(size, parts);
  lines.to = place(outputs, fromHalf ? 1 : 2);
  for (int64_t d = 0; d < rank - 1; ++d)
    sizes[d] = axis->choose(node, Axis::same, d, outputs, sizes[d]);
  sizes.back() = sizeAttr(node, fromHalf ? 1 : 2);
  // Counts most points of half a spectrum twice, because they also stand for
  // their mirror image.
  if (fromHalf)
    lines.weight = [&](OpBuilder &b, Location loc, Value n) -> Value {
      Indices i{b, loc};
      Value isOnce =
          arith::OrIOp::create(b, loc, i.equal(n, i.n(0)),
                               i.equal(i.mul(n, i.n(2)), lines.length));
      auto number = [&](double value) -> Value {
        return arith::ConstantOp::create(
            b, loc, b.getFloatAttr(transformType(node), value));
      };
      return i.choose(isOnce, number(1), number(2));
    };
  return node.replace(transformAll(node, x, sizes, lines));
}

LogicalResult legalize::legalizeComputedSTFT(Node &node) {
  OpBuilder &b = node.builder;
  Indices i{b, node.loc()};
  bool isPlain = node.rank(0) == 2;
  int64_t parts = isPlain ? 1 : node.shape(0).back();
  Value x = castTo(node, node.input(0), transformType(node));
  Value window = node.input(2);
  OpFoldResult size = sizeOf(node, x, 1);
  auto step = scalarSize(node, 1, "frame_step");
  FailureOr<OpFoldResult> length = window ? sizeOf(node, window, 0) : size;
  if (node.has(3))
    length = scalarSize(node, 3, "frame_length");
  if (failed(step) || failed(length))
    return failure();
  Value stepValue = indexValue(node, *step);
  LineTransforms lines;
  lines.length = lines.inputs = indexValue(node, *length);
  requirePositive(node, stepValue, "frame_step");
  requireLength(node, lines.length, "frame_length");
  Value sizeValue = indexValue(node, size);
  require(b, node.loc(), i.less(lines.length, i.add(sizeValue, i.n(1))),
          "frames of {0} of {1} samples", {lines.length, sizeValue});
  if (window) {
    if (node.rank(2) != 1)
      return node.invalid("expects a window of rank 1, but got " +
                          Twine(node.rank(2)));
    window = castTo(node, window, transformType(node));
    Value points = indexValue(node, sizeOf(node, window, 0));
    require(b, node.loc(), i.equal(points, lines.length),
            "a window of {0} points for frames of {1}",
            {points, lines.length});
    lines.weight = [&](OpBuilder &b, Location loc, Value n) -> Value {
      return tensor::ExtractOp::create(b, loc, window, n);
    };
  }
  OpFoldResult one = sizeAttr(node, 1), two = sizeAttr(node, 2);
  OpFoldResult room = subSizes(node, size, *length);
  OpFoldResult frames = addSizes(node, divSizes(node, room, *step), one);
  OpFoldResult outputs = *length;
  if (node.getInt("onesided", 1))
    outputs = addSizes(node, divSizes(node, *length, two), one);
  lines.outer = indexValue(node, sizeOf(node, x, 0));
  lines.inner = indexValue(node, frames);
  lines.outputs = indexValue(node, outputs);
  lines.readsComplex = parts == 2;
  Value perPoint = i.n(parts), perFrame = i.mul(lines.outputs, i.n(2));
  lines.from = {i.mul(sizeValue, perPoint), i.mul(stepValue, perPoint),
                perPoint};
  lines.to = {i.mul(lines.inner, perFrame), perFrame, i.n(2)};
  Sizes sizes = {sizeOf(node, x, 0), frames, outputs, two};
  return node.replace(transformAll(node, x, sizes, lines));
}
