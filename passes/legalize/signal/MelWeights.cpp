//===- MelWeights.cpp - MelWeightMatrix -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes MelWeightMatrix, a matrix that maps a spectrum to the mel scale.
// Column i is a triangle over the bins from edge i to edge i + 2, with its top
// at edge i + 1. All inputs may be computed at run time.
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "passes/legalize/control/ControlFlow.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// Short names for arithmetic on f64.
struct Doubles {
  OpBuilder &b;
  Location loc;

  Value n(double value) {
    return arith::ConstantOp::create(b, loc, b.getF64FloatAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, loc, x, y); }
  Value of(Value index) {
    return arith::SIToFPOp::create(
        b, loc, b.getF64Type(),
        arith::IndexCastOp::create(b, loc, b.getI64Type(), index));
  }
};

} // namespace

/// Returns 2595 · log10(1 + hertz / 700).
static Value melOf(Doubles d, Value hertz) {
  Value log = math::Log1pOp::create(d.b, d.loc, d.div(hertz, d.n(700)));
  return d.mul(log, d.n(2595 / std::log(10.0)));
}

/// Returns the frequency in input i as f64.
static FailureOr<Value> hertzOf(Node &node, size_t i, StringRef name) {
  if (node.type(i).getNumDynamicDims() || node.type(i).getNumElements() != 1)
    return node.invalid("'" + name + "' needs one element");
  Value wide = castTo(node, node.input(i), node.builder.getF64Type());
  return onlyElement(node.builder, node.loc(), wide);
}

static LogicalResult legalizeMelWeightMatrix(Node &node) {
  static constexpr StringLiteral names[] = {"num_mel_bins", "dft_length",
                                            "sample_rate"};
  OpBuilder &builder = node.builder;
  Location loc = node.loc();
  Indices index{builder, loc};
  Sizes counts;
  for (auto [i, name] : llvm::enumerate(names)) {
    auto elements = elementsOf(node, node.input(i));
    if (failed(elements))
      return failure();
    if (elements->size() != 1)
      return node.badLength(name, elements->size(), "1");
    counts.push_back(elements->front());
    auto known = getConstantIntValue(counts.back());
    if (known && *known < 1)
      return node.badElement(name, std::nullopt, Twine(*known), "at least 1");
    if (!known) {
      Value count = indexValue(node, counts.back());
      require(builder, loc, index.less(index.n(0), count),
              "'" + name + "' is {0}, but must be at least 1", {count});
    }
  }
  auto low = hertzOf(node, 3, "lower_edge_hertz"),
       high = hertzOf(node, 4, "upper_edge_hertz");
  if (failed(low) || failed(high))
    return failure();
  Doubles d{builder, loc};
  Value length = indexValue(node, counts[1]),
        rate = indexValue(node, counts[2]);
  Value lowMel = melOf(d, *low), highMel = melOf(d, *high);
  OpFoldResult edgeCount = addSizes(node, counts[0], sizeAttr(node, 2));
  Value step = d.div(d.sub(highMel, lowMel),
                     d.of(indexValue(node, edgeCount)));
  Value scale = d.div(d.mul(d.of(index.add(length, index.n(1))), d.n(700)),
                      d.of(rate));
  // Bin of each edge, rounded down.
  Value edges = generate(
      node, builder.getF64Type(), {edgeCount},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Doubles d{b, loc};
        Value mel = d.add(d.mul(d.of(at[0]), step), lowMel);
        Value power = d.mul(mel, d.n(std::log(10.0) / 2595));
        return math::FloorOp::create(
            b, loc,
            d.mul(math::ExpM1Op::create(b, loc, power), scale));
      });
  OpFoldResult rows = addSizes(
      node, divSizes(node, counts[1], sizeAttr(node, 2)), sizeAttr(node, 1));
  Value weights = generate(
      node, builder.getF64Type(), {rows, counts[0]},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Doubles d{b, loc};
        Indices index{b, loc};
        auto edge = [&](int64_t i) -> Value {
          return tensor::ExtractOp::create(b, loc, edges,
                                           index.add(at[1], index.n(i)));
        };
        Value bin = d.of(at[0]), left = edge(0), top = edge(1), right = edge(2);
        auto isLess = [&](Value x, Value y) -> Value {
          return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
        };
        Value isSteep = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::OEQ, left, top);
        Value rises = index.choose(
            isSteep, d.n(1), d.div(d.sub(bin, left), d.sub(top, left)));
        Value falls = d.div(d.sub(right, bin), d.sub(right, top));
        Value isBefore = index.choose(isLess(bin, left), d.n(0), rises);
        Value isBehind = index.choose(isLess(bin, right), falls, d.n(0));
        // Counts the top as a part of the right side, which may have no width.
        Value isTop = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                            bin, top);
        Value atTop = index.choose(isLess(top, right), d.n(1), isBefore);
        return index.choose(isTop, atTop,
                            index.choose(isLess(bin, top), isBefore, isBehind));
      });
  int64_t number = node.getInt("output_datatype", 1);
  Type type = elementTypeOf(node.context(), number);
  if (!type || !isa<FloatType, IntegerType>(type))
    return node.invalid("'output_datatype' is " + Twine(number));
  return node.replace(castTo(node, weights, type));
}

void legalize::populateMelWeights(Legalizers &legalizers) {
  legalizers.add("MelWeightMatrix", legalizeMelWeightMatrix);
}
