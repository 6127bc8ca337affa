//===- ComputedFourier.cpp - transforms of computed form ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where no matrix of waves can be a constant, a run computes one turn of cosine
// and sine, and sums the samples times those that their places come to.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ComputedFourier.h"

#include "passes/legalize/ComputedShape.h"
#include "passes/legalize/Helpers.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

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

namespace {

/// The parts of a complex number while sums go on.
struct Parts {
  Value re, im;
};

/// Sums of samples times waves of `length` points.
struct Waves {
  Waves(Node &node, Type element, Value length, bool inverse)
      : node(node), element(element), length(length), inverse(inverse) {
    OpBuilder &b = node.builder;
    Type f64 = b.getF64Type();
    auto table = [&](bool sine) {
      Value exact = generate(
          node, f64, {OpFoldResult(length)},
          [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
            auto number = [&](Value x) -> Value {
              x = arith::IndexCastOp::create(b, loc, b.getI64Type(), x);
              return arith::SIToFPOp::create(b, loc, f64, x);
            };
            Value turn = arith::ConstantOp::create(
                b, loc, b.getF64FloatAttr(2 * M_PI));
            Value angle = arith::DivFOp::create(
                b, loc, arith::MulFOp::create(b, loc, turn, number(at[0])),
                number(length));
            return sine ? Value(math::SinOp::create(b, loc, angle))
                        : Value(math::CosOp::create(b, loc, angle));
          });
      return castTo(node, exact, this->element);
    };
    cosines = table(false);
    sines = table(true);
  }

  Value constant(OpBuilder &b, Location loc, double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(element, value));
  }

  /// One part of the sum of sample(n) e^(±2πi n k / length) for n < count.
  Value sum(OpBuilder &b, Location loc, Value k, Value count, Value isImaginary,
            llvm::function_ref<Parts(OpBuilder &, Location, Value n)> sample) {
    Indices i{b, loc};
    auto loop = scf::ForOp::create(
        b, loc, i.n(0), count, i.n(1), ValueRange{constant(b, loc, 0)},
        [&](OpBuilder &b, Location loc, Value n, ValueRange state) {
          Indices i{b, loc};
          Value place = i.rem(i.mul(n, k), length);
          Value cosine = tensor::ExtractOp::create(b, loc, cosines, place);
          Value sine = tensor::ExtractOp::create(b, loc, sines, place);
          if (!inverse)
            sine = arith::NegFOp::create(b, loc, sine);
          auto times = [&](Value x, Value y) -> Value {
            return arith::MulFOp::create(b, loc, x, y);
          };
          Parts x = sample(b, loc, n);
          Value re = times(x.re, cosine), im = times(x.re, sine);
          if (x.im) {
            re = arith::SubFOp::create(b, loc, re, times(x.im, sine));
            im = arith::AddFOp::create(b, loc, im, times(x.im, cosine));
          }
          Value part = i.choose(isImaginary, im, re);
          scf::YieldOp::create(
              b, loc,
              ValueRange{arith::AddFOp::create(b, loc, state[0], part)});
        });
    return loop.getResult(0);
  }

  Node &node;
  Type element;
  Value length;
  bool inverse;
  Value cosines, sines;
};

} // namespace

/// What sums are of. The loops are scalar, so that double costs nothing.
static Type sumType(Node &node) { return node.builder.getF64Type(); }

static void requirePositive(Node &node, Value size, const Twine &what) {
  Indices i{node.builder, node.loc()};
  require(node.builder, node.loc(), i.less(i.n(0), size),
          what + " is {0}, but must be at least 1", {size});
}

LogicalResult legalize::legalizeComputedDFT(Node &node) {
  OpBuilder &b = node.builder;
  Indices i{b, node.loc()};
  int64_t rank = node.rank(0), parts = node.shape(0).back();
  bool inverse = node.getInt("inverse", 0),
       oneSided = node.getInt("onesided", 0), fromHalf = inverse && oneSided;
  Value axis = i.n(node.opset >= 20 ? -2 : node.getInt("axis", 1));
  if (node.opset >= 20 && node.has(2)) {
    auto given = computedScalar(node, 2, "axis");
    if (failed(given))
      return failure();
    axis = *given;
  }
  requireAxis(node, axis, rank);
  axis = i.wrap(axis, i.n(rank));
  require(b, node.loc(), i.less(axis, i.n(rank - 1)),
          "axis {0} is that of real and imaginary parts", {axis});

  Value x = castTo(node, node.input(0), sumType(node));
  Sizes sizes = sizesOf(node, x);
  SmallVector<Value> isAxis;
  Value size = i.n(1);
  for (int64_t d = 0; d < rank - 1; ++d) {
    isAxis.push_back(i.equal(axis, i.n(d)));
    size = i.choose(isAxis.back(), indexValue(node, sizes[d]), size);
  }
  Value length = fromHalf ? i.mul(i.sub(size, i.n(1)), i.n(2)) : size;
  if (node.has(1)) {
    auto given = computedScalar(node, 1, "dft_length");
    if (failed(given))
      return failure();
    length = *given;
  }
  requirePositive(node, length, "dft_length");
  Value half = i.add(i.div(length, i.n(2)), i.n(1));
  Value inputs = i.min(size, fromHalf ? half : length);
  Value outputs = oneSided && !inverse ? half : length;
  for (int64_t d = 0; d < rank - 1; ++d)
    sizes[d] = i.choose(isAxis[d], outputs, indexValue(node, sizes[d]));
  sizes.back() = sizeAttr(node, fromHalf ? 1 : 2);

  Waves waves(node, sumType(node), length, inverse);
  Value y = generate(
      node, sumType(node), sizes,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        Value k = i.n(0);
        for (int64_t d = 0; d < rank - 1; ++d)
          k = i.choose(isAxis[d], at[d], k);
        auto sample = [&](OpBuilder &b, Location loc, Value n) -> Parts {
          Indices i{b, loc};
          SmallVector<Value> from(at);
          for (int64_t d = 0; d < rank - 1; ++d)
            from[d] = i.choose(isAxis[d], n, at[d]);
          // Half a spectrum stands for its mirror image too.
          Value factor;
          if (fromHalf) {
            Value isOnce = arith::OrIOp::create(
                b, loc, i.equal(n, i.n(0)),
                i.equal(i.mul(n, i.n(2)), length));
            factor = i.choose(isOnce, waves.constant(b, loc, 1),
                              waves.constant(b, loc, 2));
          }
          auto part = [&](int64_t which) -> Value {
            from.back() = i.n(which);
            Value value = tensor::ExtractOp::create(b, loc, x, from);
            return factor ? Value(arith::MulFOp::create(b, loc, value, factor))
                          : value;
          };
          Value re = part(0);
          return {re, parts == 2 ? part(1) : Value()};
        };
        Value isImaginary = i.equal(at.back(), i.n(1));
        Value total = waves.sum(b, loc, k, inputs, isImaginary, sample);
        if (!inverse)
          return total;
        Value count = arith::SIToFPOp::create(
            b, loc, waves.element,
            arith::IndexCastOp::create(b, loc, b.getI64Type(), length));
        return arith::DivFOp::create(b, loc, total, count);
      });
  return node.replace(castTo(node, y, node.elementType(0)));
}

LogicalResult legalize::legalizeComputedSTFT(Node &node) {
  OpBuilder &b = node.builder;
  Indices i{b, node.loc()};
  bool isPlain = node.rank(0) == 2;
  int64_t parts = isPlain ? 1 : node.shape(0).back();
  auto step = computedScalar(node, 1, "frame_step");
  FailureOr<Value> given =
      node.has(3) ? computedScalar(node, 3, "frame_length")
                  : indexValue(node, sizeOf(node, node.input(2), 0));
  if (failed(step) || failed(given))
    return failure();
  Value length = *given, x = castTo(node, node.input(0), sumType(node));
  requirePositive(node, *step, "frame_step");
  requirePositive(node, length, "frame_length");
  Value size = indexValue(node, sizeOf(node, x, 1));
  require(b, node.loc(), i.less(length, i.add(size, i.n(1))),
          "frames of {0} of {1} samples", {length, size});
  Value window = node.input(2);
  if (window) {
    if (node.rank(2) != 1)
      return node.invalid("expects a window of rank 1, but got " +
                          Twine(node.rank(2)));
    window = castTo(node, window, sumType(node));
    Value points = indexValue(node, sizeOf(node, window, 0));
    require(b, node.loc(), i.equal(points, length),
            "a window of {0} points for frames of {1}", {points, length});
  }
  Value frames = i.add(i.div(i.sub(size, length), *step), i.n(1));
  Value outputs = node.getInt("onesided", 1)
                      ? i.add(i.div(length, i.n(2)), i.n(1))
                      : length;
  Waves waves(node, sumType(node), length, /*inverse=*/false);
  Value y = generate(
      node, sumType(node),
      {sizeOf(node, x, 0), OpFoldResult(frames), OpFoldResult(outputs),
       sizeAttr(node, 2)},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        Value from = i.mul(at[1], *step);
        auto sample = [&](OpBuilder &b, Location loc, Value n) -> Parts {
          Indices i{b, loc};
          Value position = i.add(from, n);
          auto part = [&](int64_t which) -> Value {
            SmallVector<Value> place{at[0], position};
            if (!isPlain)
              place.push_back(i.n(which));
            Value value = tensor::ExtractOp::create(b, loc, x, place);
            if (window)
              value = arith::MulFOp::create(
                  b, loc, value,
                  tensor::ExtractOp::create(b, loc, window, n));
            return value;
          };
          Value re = part(0);
          return {re, parts == 2 ? part(1) : Value()};
        };
        return waves.sum(b, loc, at[2], length, i.equal(at[3], i.n(1)),
                         sample);
      });
  return node.replace(castTo(node, y, node.elementType(0)));
}
