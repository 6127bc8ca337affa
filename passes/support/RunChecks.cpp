//===- RunChecks.cpp - run-time checks ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/RunChecks.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

void ingot::require(OpBuilder &builder, Location loc, Value condition,
                    const Twine &message, ValueRange values) {
  std::string node = nodeNameOf(loc), text;
  if (!node.empty())
    text = "node '" + node + "': ";
  RequireOp::create(builder, loc, condition, text + message.str(), values);
}

Value ingot::relates(OpBuilder &builder, Location loc,
                     nn::SizeRelation relation, Value a, Value b) {
  using arith::CmpIPredicate;
  auto is = [&](CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, x, y);
  };
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  switch (relation) {
  case nn::SizeRelation::equal:
    return is(CmpIPredicate::eq, a, b);
  case nn::SizeRelation::atLeast:
    return is(CmpIPredicate::sge, a, b);
  case nn::SizeRelation::multipleOf: {
    auto divides = [&](Value divisor) {
      return is(CmpIPredicate::eq,
                arith::RemSIOp::create(builder, loc, a, divisor), number(0));
    };
    if (std::optional<int64_t> known = getConstantIntValue(b); known && *known)
      return divides(b);
    // The check fails if the divisor is 0.
    Value divisor = arith::MaxSIOp::create(builder, loc, b, number(1));
    return arith::AndIOp::create(builder, loc,
                                 is(CmpIPredicate::slt, number(0), b),
                                 divides(divisor));
  }
  case nn::SizeRelation::broadcastTo:
    return arith::OrIOp::create(builder, loc, is(CmpIPredicate::eq, a, b),
                                is(CmpIPredicate::eq, a, number(1)));
  }
  llvm_unreachable("unknown relation");
}
