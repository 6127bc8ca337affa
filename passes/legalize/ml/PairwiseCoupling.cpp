//===- PairwiseCoupling.cpp - class probabilities from pairs --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes class probabilities from pairwise scores, as LIBSVM and ONNX Runtime
// do. The method is the second one of Wu, Lin and Weng, "Probability estimates
// for multi-class classification by pairwise coupling", 2004. The probabilities
// p sum to 1 and minimize p' Q p, where the pairwise scores determine Q. A
// round improves one element of p after the other. Rounds repeat until all
// elements are near the minimum. The results depend on the number of rounds, so
// that a closed form would give other results.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ml/PairwiseCoupling.h"
#include "passes/support/Resampling.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;
using support::Scalars;

namespace {

constexpr int64_t kMaxRounds = 100;
/// Tolerance of the iteration, divided by the number of classes.
constexpr double kFarOff = 0.005;
/// The minimum probability of a class in a pair.
constexpr double kMinShare = 1e-7;
/// Limit of classes, because a round is unrolled over all pairs.
constexpr int64_t kMaxClasses = 32;

/// Solver for the probabilities of one row.
class Coupling {
public:
  /// Creates a solver. `share(i, j)` is the probability of class i against
  /// class j.
  Coupling(int64_t classes,
           llvm::function_ref<Value(int64_t, int64_t)> share, Scalars s);
  SmallVector<Value> solve(Scalars s);

private:
  Value &q(int64_t i, int64_t j) { return matrix[i * classes + j]; }
  /// Returns Q p, followed by p' Q p.
  SmallVector<Value> products(Scalars s, ValueRange p);
  /// Returns true if another round is needed.
  Value isFarOff(Scalars s, ArrayRef<Value> products);
  /// Returns p after a round. `products` are the products for p.
  SmallVector<Value> improve(Scalars s, ValueRange p, ValueRange products);

  int64_t classes;
  SmallVector<Value> matrix;
};

} // namespace

Coupling::Coupling(int64_t classes,
                   llvm::function_ref<Value(int64_t, int64_t)> share,
                   Scalars s)
    : classes(classes), matrix(classes * classes) {
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = 0; j < classes; ++j) {
      if (i == j)
        continue;
      Value against = share(j, i), square = s.mul(against, against);
      q(i, i) = q(i, i) ? s.add(q(i, i), square) : square;
      q(i, j) = j < i ? q(j, i)
                      : arith::NegFOp::create(s.b, s.loc,
                                              s.mul(against, share(i, j)))
                            .getResult();
    }
}

SmallVector<Value> Coupling::products(Scalars s, ValueRange p) {
  SmallVector<Value> found;
  Value all;
  for (int64_t i = 0; i < classes; ++i) {
    Value sum;
    for (int64_t j = 0; j < classes; ++j) {
      Value term = s.mul(q(i, j), p[j]);
      sum = sum ? s.add(sum, term) : term;
    }
    found.push_back(sum);
    Value term = s.mul(p[i], sum);
    all = all ? s.add(all, term) : term;
  }
  found.push_back(all);
  return found;
}

Value Coupling::isFarOff(Scalars s, ArrayRef<Value> products) {
  Value any, limit = s.f(kFarOff / classes);
  for (Value product : products.drop_back()) {
    Value off = math::AbsFOp::create(s.b, s.loc,
                                     s.sub(product, products.back()));
    Value isFar = arith::CmpFOp::create(s.b, s.loc, arith::CmpFPredicate::OGE,
                                        off, limit);
    any = any ? arith::OrIOp::create(s.b, s.loc, any, isFar).getResult()
              : isFar;
  }
  return any;
}

SmallVector<Value> Coupling::improve(Scalars s, ValueRange p,
                                     ValueRange products) {
  SmallVector<Value> next(p), each(products.drop_back());
  Value all = products.back(), two = s.f(2), one = s.f(1);
  for (int64_t i = 0; i < classes; ++i) {
    Value step = s.div(s.sub(all, each[i]), q(i, i));
    next[i] = s.add(next[i], step);
    // Normalizes p. After the step, its sum is 1 + step.
    Value sum = s.add(one, step);
    Value more = s.mul(step, s.add(s.mul(step, q(i, i)), s.mul(two, each[i])));
    all = s.div(s.div(s.add(all, more), sum), sum);
    for (int64_t j = 0; j < classes; ++j) {
      each[j] = s.div(s.add(each[j], s.mul(step, q(i, j))), sum);
      next[j] = s.div(next[j], sum);
    }
  }
  return next;
}

SmallVector<Value> Coupling::solve(Scalars s) {
  OpBuilder &b = s.b;
  SmallVector<Value> state = {arith::ConstantIndexOp::create(b, s.loc, 0)};
  state.append(classes, s.f(1.0 / classes));
  SmallVector<Type> types = {b.getIndexType()};
  types.append(2 * classes + 1, b.getF32Type());
  auto loop = scf::WhileOp::create(
      b, s.loc, types, state,
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Scalars s{b, loc};
        Indices i{b, loc};
        SmallVector<Value> found = products(s, state.drop_front());
        Value again = i.both(i.less(state[0], i.n(kMaxRounds)),
                             isFarOff(s, found));
        SmallVector<Value> passed(state);
        passed.append(found);
        scf::ConditionOp::create(b, loc, again, passed);
      },
      [&](OpBuilder &b, Location loc, ValueRange passed) {
        Indices i{b, loc};
        SmallVector<Value> next = {i.add(passed[0], i.n(1))};
        next.append(improve(Scalars{b, loc}, passed.slice(1, classes),
                            passed.drop_front(1 + classes)));
        scf::YieldOp::create(b, loc, next);
      });
  return SmallVector<Value>(loop.getResults().slice(1, classes));
}

/// Returns the probability of the first class for each pair's score.
static Value sharesOf(Node &node, Value scores, ArrayRef<float> slopes,
                      ArrayRef<float> offsets) {
  Type f32 = node.builder.getF32Type();
  int64_t pairs = slopes.size();
  Value scaled = binary<nn::AddOp>(
      node,
      binary<nn::MulOp>(node, scores, floatConstants(node, slopes, {pairs})),
      floatConstants(node, offsets, {pairs}));
  Value share = binary<nn::SubOp>(node, scalar(node, f32, 1),
                                  node.make<nn::SigmoidOp>(scaled));
  share = binary<nn::MaxOp>(node, share, scalar(node, f32, kMinShare));
  return binary<nn::MinOp>(node, share, scalar(node, f32, 1 - kMinShare));
}

FailureOr<Value> legalize::couplePairs(Node &node, Value scores,
                                       int64_t classes,
                                       ArrayRef<float> slopes,
                                       ArrayRef<float> offsets) {
  int64_t pairs = classes * (classes - 1) / 2;
  if (int64_t(slopes.size()) != pairs)
    return node.badLength("prob_a", slopes.size(),
                          Twine(pairs) + ", one for two classes");
  if (int64_t(offsets.size()) != pairs)
    return node.badLength("prob_b", offsets.size(),
                          Twine(pairs) + ", one for two classes");
  if (classes > kMaxClasses)
    return node.unsupported("probabilities (prob_a) of more than " +
                            Twine(kMaxClasses) + " classes");
  OpBuilder &builder = node.builder;
  Value shares = sharesOf(node, scores, slopes, offsets);
  SmallVector<Value> inits;
  for (int64_t i = 0; i < classes; ++i)
    inits.push_back(support::empty(
        builder, node.loc(), {sizeOf(node, shares, 0)}, builder.getF32Type()));
  SmallVector<AffineMap> maps(classes, builder.getMultiDimIdentityMap(1));
  SmallVector<utils::IteratorType> iterators = {utils::IteratorType::parallel};
  auto rows = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(ValueRange(inits)), ValueRange(), inits,
      maps, iterators, [&](OpBuilder &b, Location loc, ValueRange) {
        Scalars s{b, loc};
        Indices i{b, loc};
        Value row = linalg::IndexOp::create(b, loc, 0);
        SmallVector<Value> first, second;
        for (int64_t pair = 0; pair < pairs; ++pair) {
          first.push_back(tensor::ExtractOp::create(
              b, loc, shares, ValueRange{row, i.n(pair)}));
          second.push_back(s.sub(s.f(1), first.back()));
        }
        auto share = [&](int64_t of, int64_t against) {
          int64_t low = std::min(of, against), high = std::max(of, against);
          int64_t pair = low * (2 * classes - low - 1) / 2 + high - low - 1;
          return of < against ? first[pair] : second[pair];
        };
        Coupling coupling(classes, share, s);
        linalg::YieldOp::create(b, loc, coupling.solve(s));
      });
  return joinRows(node, llvm::to_vector_of<Value>(rows.getResults()), 1);
}
