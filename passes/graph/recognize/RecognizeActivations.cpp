//===- RecognizeActivations.cpp - nn-recognize-activations ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/Passes.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Scalars.h"


namespace ingot {
#define GEN_PASS_DEF_RECOGNIZEACTIVATIONS
#include "passes/graph/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A product number * factors[0] * factors[1] …. All factors have one type.
struct FactorProduct {
  double number = 1;
  SmallVector<Value> factors;

  /// Returns the factor that is not `known`. Returns null if `known` is not one
  /// of the two factors.
  Value other(Value known) const {
    if (factors.size() != 2)
      return {};
    return factors[0] == known   ? factors[1]
           : factors[1] == known ? factors[0]
                                 : Value();
  }
};
} // namespace

/// Collects the factors of `value`. Goes up through products, and through
/// quotients by numbers, if these have no other users.
static void collect(Value value, FactorProduct &product, bool root) {
  Value x;
  bool inside = root || value.hasOneUse();
  if (inside) {
    if (auto number = matchScalar<nn::MulOp>(value, x, /*either=*/true)) {
      product.number *= *number;
      return collect(x, product, false);
    }
    if (auto number = matchScalar<nn::DivOp>(value, x)) {
      product.number /= *number;
      return collect(x, product, false);
    }
    auto mul = value.getDefiningOp<nn::MulOp>();
    if (mul && mul.getA().getType() == mul.getType() &&
        mul.getB().getType() == mul.getType()) {
      collect(mul.getA(), product, false);
      collect(mul.getB(), product, false);
      return;
    }
  }
  product.factors.push_back(value);
}

static FactorProduct productOf(Value value) {
  FactorProduct product;
  collect(value, product, /*root=*/true);
  return product;
}

//===----------------------------------------------------------------------===//
// Parts of activations
//===----------------------------------------------------------------------===//

/// Matches 1 + f(argument), and returns the argument.
template <typename Op> static Value matchOnePlus(Value value) {
  Value inner;
  if (!isAbout(matchScalar<nn::AddOp>(value, inner, /*either=*/true), 1))
    return {};
  auto op = inner.getDefiningOp<Op>();
  return op ? op.getX() : Value();
}

/// Returns true if `value` is number * x.
static bool isScaled(Value value, Value x, double number) {
  FactorProduct product = productOf(value);
  return product.factors.size() == 1 && product.factors[0] == x &&
         isAbout(product.number, number);
}

/// Returns true if `value` is number * x^power.
static bool isMonomial(Value value, Value x, int power, double number) {
  FactorProduct product = productOf(value);
  if (!isAbout(product.number, number))
    return false;
  int total = 0;
  for (Value factor : product.factors) {
    Value base;
    if (factor == x) {
      total += 1;
    } else if (auto exponent = matchScalar<nn::PowOp>(factor, base);
               exponent && base == x) {
      total += int(*exponent);
      if (*exponent != int(*exponent))
        return false;
    } else if (auto mul = factor.getDefiningOp<nn::MulOp>();
               mul && mul.getA() == x && mul.getB() == x) {
      total += 2;
    } else {
      return false;
    }
  }
  return total == power;
}

/// Returns true if `value` is sqrt(2/pi) (x + 0.044715 x^3), in this form or
/// with x factored out.
static bool isGeluArgument(Value value, Value x) {
  const double factor = std::sqrt(2 / 3.14159265358979323846), cubic = 0.044715;
  FactorProduct product = productOf(value);
  if (!isAbout(product.number, factor))
    return false;
  if (product.factors.size() == 1) {
    auto sum = product.factors[0].getDefiningOp<nn::AddOp>();
    if (!sum)
      return false;
    return (sum.getA() == x && isMonomial(sum.getB(), x, 3, cubic)) ||
           (sum.getB() == x && isMonomial(sum.getA(), x, 3, cubic));
  }
  Value rest = product.other(x), square;
  return rest &&
         isAbout(matchScalar<nn::AddOp>(rest, square, /*either=*/true), 1) &&
         isMonomial(square, x, 2, cubic);
}

/// Matches clamp(x + 3, 0, 6), and returns x.
static Value matchShiftedRelu6(Value value) {
  auto clamp = value.getDefiningOp<nn::ClampOp>();
  Value x;
  if (!clamp || clamp.getMin().convertToDouble() != 0 ||
      clamp.getMax().convertToDouble() != 6 ||
      !isAbout(matchScalar<nn::AddOp>(clamp.getX(), x, /*either=*/true), 3))
    return {};
  return x;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Matches products, for each kind of op that may come last.
template <typename Root> struct RecognizeProduct : OpRewritePattern<Root> {
  RecognizeProduct(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<Root>(context), count(count) {}

  LogicalResult matchAndRewrite(Root op,
                                PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(op.getType().getElementType()))
      return rewriter.notifyMatchFailure(op, "is not of floats");
    Value y = op.getResult();
    FactorProduct product = productOf(y);
    Operation *found = nullptr;
    if (product.factors.size() == 1) {
      if (Value x = matchShiftedRelu6(product.factors[0]);
          x && isAbout(product.number, 1.0 / 6))
        found = nn::HardSigmoidOp::create(rewriter, op.getLoc(), y.getType(), x,
                                          rewriter.getF32FloatAttr(1.0f / 6),
                                          rewriter.getF32FloatAttr(0.5f));
    } else if (product.factors.size() == 2) {
      for (int i : {0, 1})
        if (!found)
          found = create(rewriter, op.getLoc(), product.factors[i],
                         product.factors[1 - i], product.number);
    }
    if (!found)
      return rewriter.notifyMatchFailure(op, "is not a known activation");
    rewriter.replaceOp(op, found);
    ++count;
    return success();
  }

  /// Creates the activation number * x * gate, where gate is a function of x.
  static Operation *create(PatternRewriter &rewriter, Location loc, Value x,
                           Value gate, double number) {
    Type type = x.getType();
    if (isAbout(number, 0.5)) {
      Value argument = matchOnePlus<nn::ErfOp>(gate);
      if (argument && isScaled(argument, x, std::sqrt(0.5)))
        return nn::GeluOp::create(rewriter, loc, type, x,
                                  /*tanh_approximation=*/false);
      argument = matchOnePlus<nn::TanhOp>(gate);
      if (argument && isGeluArgument(argument, x))
        return nn::GeluOp::create(rewriter, loc, type, x,
                                  /*tanh_approximation=*/true);
      return nullptr;
    }
    if (isAbout(number, 1.0 / 6) && matchShiftedRelu6(gate) == x)
      return nn::HardSwishOp::create(rewriter, loc, type, x);
    if (!isAbout(number, 1))
      return nullptr;
    if (auto sigmoid = gate.getDefiningOp<nn::SigmoidOp>()) {
      FactorProduct argument = productOf(sigmoid.getX());
      bool inside = argument.factors.size() == 1 && argument.factors[0] == x;
      if (sigmoid.getX() != x && !inside)
        return nullptr;
      double alpha = sigmoid.getX() == x ? 1 : argument.number;
      return nn::SwishOp::create(rewriter, loc, type, x,
                                 rewriter.getF32FloatAttr(float(alpha)));
    }
    if (auto hard = gate.getDefiningOp<nn::HardSigmoidOp>();
        hard && hard.getX() == x &&
        isAbout(hard.getAlpha().convertToFloat(), 1.0 / 6) &&
        isAbout(hard.getBeta().convertToFloat(), 0.5))
      return nn::HardSwishOp::create(rewriter, loc, type, x);
    return nullptr;
  }
  Pass::Statistic &count;
};

struct RecognizeActivationsPass
    : ingot::impl::RecognizeActivationsBase<RecognizeActivationsPass> {
  using RecognizeActivationsBase::RecognizeActivationsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<RecognizeProduct<nn::MulOp>, RecognizeProduct<nn::DivOp>>(
        &getContext(), numRecognized);
    if (failed(rewriteGreedily(getOperation(), std::move(patterns),
                               getArgument())))
      signalPassFailure();
  }
};

} // namespace
