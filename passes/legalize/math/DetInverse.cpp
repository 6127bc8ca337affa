//===- DetInverse.cpp - Det, Inverse --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/support/Resampling.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// Gaussian elimination with partial pivoting of matrices (batch, rows,
/// columns). Each row gets a pivot.
struct GaussianElimination {
  Value rows, columns;
  /// True if elements above a pivot also become 0, and the pivot becomes 1.
  bool isFull;

  Value read(OpBuilder &b, Location loc, Value x, Value n, Value i, Value j) {
    return tensor::ExtractOp::create(b, loc, x, ValueRange{n, i, j});
  }
  Value write(OpBuilder &b, Location loc, Value element, Value x,
              ValueRange at) {
    return tensor::InsertOp::create(b, loc, element, x, at);
  }
  Value pivotOf(OpBuilder &b, Location loc, Value x, Value n, Value k);
  /// Applies `body` to each column of x.
  Value
  forColumns(OpBuilder &b, Location loc, Value x,
             function_ref<Value(OpBuilder &, Location, Value x, Value j)> body);
  /// Does step k, and returns x and the product of all pivots so far.
  std::pair<Value, Value> step(OpBuilder &b, Location loc, Value x, Value n,
                               Value k, Value product);
};

} // namespace

/// Returns the row from k on with the largest absolute value in column k.
Value GaussianElimination::pivotOf(OpBuilder &b, Location loc, Value x, Value n,
                                   Value k) {
  Indices i{b, loc};
  Value first = math::AbsFOp::create(b, loc, read(b, loc, x, n, k, k));
  auto loop = scf::ForOp::create(
      b, loc, k, rows, i.n(1), ValueRange{first, k},
      [&](OpBuilder &b, Location loc, Value row, ValueRange args) {
        Value size = math::AbsFOp::create(b, loc, read(b, loc, x, n, row, k));
        Value isMore = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                             size, args[0]);
        Indices i{b, loc};
        scf::YieldOp::create(b, loc,
                             ValueRange{i.choose(isMore, size, args[0]),
                                        i.choose(isMore, row, args[1])});
      });
  return loop.getResult(1);
}

Value GaussianElimination::forColumns(
    OpBuilder &b, Location loc, Value x,
    function_ref<Value(OpBuilder &, Location, Value, Value)> body) {
  Indices i{b, loc};
  auto loop = scf::ForOp::create(
      b, loc, i.n(0), columns, i.n(1), ValueRange{x},
      [&](OpBuilder &b, Location loc, Value j, ValueRange args) {
        scf::YieldOp::create(b, loc, body(b, loc, args[0], j));
      });
  return loop.getResult(0);
}

std::pair<Value, Value> GaussianElimination::step(OpBuilder &b, Location loc,
                                                  Value x, Value n, Value k,
                                                  Value product) {
  Indices i{b, loc};
  support::Scalars s{b, loc};
  Type type = typeOf(x).getElementType();
  auto number = [&](OpBuilder &b, Location loc, double value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  };
  Value row = pivotOf(b, loc, x, n, k);
  Value pivot = read(b, loc, x, n, row, k);
  product = s.mul(product, pivot);
  product = i.choose(i.equal(row, k), product,
                     arith::NegFOp::create(b, loc, product));
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, pivot,
                                       number(b, loc, 0));
  x = forColumns(b, loc, x, [&](OpBuilder &b, Location loc, Value x, Value j) {
    Value upper = read(b, loc, x, n, k, j), lower = read(b, loc, x, n, row, j);
    if (isFull)
      lower = arith::DivFOp::create(b, loc, lower, pivot);
    x = write(b, loc, upper, x, {n, row, j});
    return write(b, loc, lower, x, {n, k, j});
  });
  auto loop = scf::ForOp::create(
      b, loc, isFull ? i.n(0) : i.add(k, i.n(1)), rows, i.n(1), ValueRange{x},
      [&](OpBuilder &b, Location loc, Value other, ValueRange args) {
        Indices i{b, loc};
        Value factor = read(b, loc, args[0], n, other, k);
        if (isFull) // The pivot is 1. Its own row stays.
          factor = i.choose(i.equal(other, k), number(b, loc, 0), factor);
        // Does not divide by a zero pivot. Its column has only zeros, so no
        // elimination is needed.
        else
          factor = i.choose(isZero, number(b, loc, 0),
                            arith::DivFOp::create(b, loc, factor, pivot));
        Value next = forColumns(
            b, loc, args[0], [&](OpBuilder &b, Location loc, Value x, Value j) {
              Value part = arith::MulFOp::create(b, loc, factor,
                                                 read(b, loc, x, n, k, j));
              Value rest = arith::SubFOp::create(
                  b, loc, read(b, loc, x, n, other, j), part);
              return write(b, loc, rest, x, {n, other, j});
            });
        scf::YieldOp::create(b, loc, next);
      });
  return {loop.getResult(0), product};
}

/// Reshapes input 0 to (batch, n, n), of f32 or f64.
static FailureOr<Value> readMatrices(Node &node) {
  if (!node.has(0) || node.rank(0) < 2)
    return node.invalid("matrices are needed: data of rank 2 or more");
  if (!isa<FloatType>(node.elementType(0)))
    return node.invalid("data is not of floats");
  Value x = node.input(0);
  int64_t rank = node.rank(0);
  Sizes sizes = sizesOf(node, x);
  if (failed(requireFit(node, nn::SizeRelation::equal, sizes[rank - 1],
                        sizes[rank - 2],
                        "matrices have {1} rows and {0} columns")))
    return failure();
  OpFoldResult batch = sizeAttr(node, 1);
  for (OpFoldResult size : ArrayRef(sizes).drop_back(2))
    batch = mulSizes(node, batch, size);
  if (!node.elementType(0).isF64())
    x = castTo(node, x, node.builder.getF32Type());
  return reshape(node, x, {batch, sizes[rank - 2], sizes[rank - 2]});
}

/// Eliminates in all matrices of x. The results are x and the products of
/// pivots.
static scf::ForOp eliminate(Node &node, Value x, bool isFull) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Indices i{b, loc};
  Type type = typeOf(x).getElementType();
  OpFoldResult batch = sizeOf(node, x, 0);
  GaussianElimination one{indexValue(node, sizeOf(node, x, 1)),
                          indexValue(node, sizeOf(node, x, 2)), isFull};
  Value products = tensor::EmptyOp::create(b, loc, {batch}, type);
  return scf::ForOp::create(
      b, loc, i.n(0), indexValue(node, batch), i.n(1), ValueRange{x, products},
      [&](OpBuilder &b, Location loc, Value n, ValueRange args) {
        Indices i{b, loc};
        Value first =
            arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
        auto steps = scf::ForOp::create(
            b, loc, i.n(0), one.rows, i.n(1), ValueRange{args[0], first},
            [&](OpBuilder &b, Location loc, Value k, ValueRange args) {
              auto [next, product] = one.step(b, loc, args[0], n, k, args[1]);
              scf::YieldOp::create(b, loc, ValueRange{next, product});
            });
        Value all =
            tensor::InsertOp::create(b, loc, steps.getResult(1), args[1], n);
        scf::YieldOp::create(b, loc, ValueRange{steps.getResult(0), all});
      });
}

static LogicalResult legalizeDet(Node &node) {
  auto x = readMatrices(node);
  if (failed(x))
    return failure();
  Value products = eliminate(node, *x, /*isFull=*/false).getResult(1);
  Sizes sizes = sizesOf(node, node.input(0));
  sizes.resize(sizes.size() - 2);
  return node.replace(
      castTo(node, reshape(node, products, sizes), node.elementType(0)));
}

/// Appends the identity to each matrix. Elimination turns it into the inverse.
static LogicalResult legalizeInverse(Node &node) {
  auto x = readMatrices(node);
  if (failed(x))
    return failure();
  Sizes sizes = sizesOf(node, *x);
  Type type = typeOf(*x).getElementType();
  Value identity = generate(
      node, type, sizes,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        auto number = [&](double value) -> Value {
          return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
        };
        return i.choose(i.equal(at[1], at[2]), number(1), number(0));
      });
  Value both = concat(node, {*x, identity}, 2);
  Value done = eliminate(node, both, /*isFull=*/true).getResult(0);
  Sizes starts(3, sizeAttr(node, 0));
  starts[2] = sizes[2];
  Value y = takePart(node, done, starts, sizes);
  return node.replace(castTo(node,
                             reshape(node, y, sizesOf(node, node.input(0))),
                             node.elementType(0)));
}

void legalize::populateDetInverse(Legalizers &legalizers) {
  legalizers.add("Det", legalizeDet);
  legalizers.add("Inverse", legalizeInverse, "com.microsoft");
}
