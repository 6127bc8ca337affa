//===- GuardDivision.cpp - guard-division ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot {
#define GEN_PASS_DEF_GUARDDIVISION
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// Returns the constant `value` of an integer, index or vector type.
static Value makeConstant(OpBuilder &b, Location loc, Type type,
                          int64_t value) {
  auto scalar = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  TypedAttr attr = scalar;
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, Attribute(scalar));
  return arith::ConstantOp::create(b, loc, type, attr);
}

static void guard(Operation *op, bool isSigned, bool isRemainder) {
  Value dividend = op->getOperand(0), divisor = op->getOperand(1);
  APInt known;
  bool isKnown = matchPattern(divisor, m_ConstantInt(&known));
  if (isKnown && !known.isZero() && !(isSigned && known.isAllOnes()))
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type type = divisor.getType();
  auto isDivisor = [&](int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, divisor,
                                 makeConstant(b, loc, type, value));
  };
  Value isZero = isDivisor(0), isMinusOne = isSigned ? isDivisor(-1) : Value();
  Value traps = isZero;
  if (isSigned)
    traps = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  op->setOperand(1, arith::SelectOp::create(
                        b, loc, traps, makeConstant(b, loc, type, 1), divisor));
  // The remainder by 0 and by -1 must be 0. The remainder by 1 is 0, so the
  // divisor is replaced by 1.
  if (isRemainder)
    return;
  b.setInsertionPointAfter(op);
  Value zero = makeConstant(b, loc, type, 0);
  Value quotient = op->getResult(0);
  SmallPtrSet<Operation *, 2> mine;
  auto choose = [&](Value condition, Value chosen) {
    auto select =
        arith::SelectOp::create(b, loc, condition, chosen, quotient);
    mine.insert(select);
    quotient = select;
  };
  if (isSigned)
    choose(isMinusOne, arith::SubIOp::create(b, loc, zero, dividend));
  choose(isZero, zero);
  op->getResult(0).replaceAllUsesExcept(quotient, mine);
}

namespace {
struct GuardDivisionPass : ingot::impl::GuardDivisionBase<GuardDivisionPass> {
  void runOnOperation() override {
    SmallVector<Operation *> divisions;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
              arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp,
              arith::RemUIOp>(op))
        divisions.push_back(op);
    });
    for (Operation *op : divisions)
      guard(op, !isa<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp>(op),
            isa<arith::RemSIOp, arith::RemUIOp>(op));
  }
};
} // namespace
