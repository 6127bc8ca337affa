//===- ExpandMath.cpp - expand-math ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/math/DoubleTrigonometry.h"
#include "passes/math/ErrorFunction.h"
#include "passes/math/Exponentials.h"
#include "passes/math/Functions.h"
#include "passes/math/Logarithms.h"
#include "passes/math/Passes.h"
#include "passes/math/Trigonometry.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace ingot {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/math/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using elementary::FloatBuilder;
using elementary::Number;

namespace {

using Function = Number (*)(Number);

/// The code of a function, for each width. Null if approximate-math has it.
struct Expansion {
  StringRef name;
  Function single, wide;
};

struct ExpandMathPass : ingot::impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override;
};

} // namespace

static Number singleTan(Number x) {
  return {x.f, elementary::approximateTan(*x.f, x.value)};
}

template <typename Op>
static Expansion expansion(Function single, Function wide) {
  return {Op::getOperationName(), single, wide};
}

/// Returns the code of `op`, a function of one number, or null.
static Function functionOf(Operation *op) {
  static const Expansion expansions[] = {
      expansion<math::AcosOp>(nullptr, elementary::acos),
      expansion<math::AcoshOp>(elementary::acosh, elementary::acosh),
      expansion<math::AsinOp>(nullptr, elementary::asin),
      expansion<math::AsinhOp>(elementary::asinh, elementary::asinh),
      expansion<math::AtanOp>(nullptr, elementary::atan),
      expansion<math::AtanhOp>(elementary::atanh, elementary::atanh),
      expansion<math::CosOp>(nullptr, elementary::cos),
      expansion<math::CoshOp>(elementary::cosh, elementary::cosh),
      expansion<math::ErfOp>(nullptr, elementary::erf),
      expansion<math::ExpOp>(nullptr, elementary::exp),
      expansion<math::ExpM1Op>(elementary::expm1, elementary::expm1),
      expansion<math::LogOp>(nullptr, elementary::log),
      expansion<math::Log1pOp>(nullptr, elementary::log1p),
      expansion<math::SinOp>(nullptr, elementary::sin),
      expansion<math::SinhOp>(elementary::sinh, elementary::sinh),
      expansion<math::TanOp>(singleTan, elementary::tan)};
  for (const Expansion &each : expansions) {
    if (each.name != op->getName().getStringRef())
      continue;
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    if (element.isF32())
      return each.single;
    return element.isF64() ? each.wide : nullptr;
  }
  return nullptr;
}

static bool isPower(Operation *op) {
  if (!isa<math::PowFOp>(op))
    return false;
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  return element.isF32() || element.isF64();
}

bool elementary::isExpanded(Operation *op) {
  return isPower(op) || functionOf(op);
}

void ExpandMathPass::runOnOperation() {
  getOperation().walk([](Operation *op) {
    Function function = functionOf(op);
    if (!function && !isPower(op))
      return;
    OpBuilder b(op);
    FloatBuilder f{b, op->getLoc(), op->getResult(0).getType(),
                   /*hasFMA=*/true};
    auto operand = [&](unsigned i) { return Number{&f, op->getOperand(i)}; };
    Number result = function ? function(operand(0))
                             : elementary::pow(operand(0), operand(1));
    op->getResult(0).replaceAllUsesWith(result.value);
    op->erase();
  });
}
