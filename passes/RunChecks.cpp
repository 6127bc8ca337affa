//===- RunChecks.cpp - what a run must find true --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/RunChecks.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"

using namespace mlir;

void ingot::require(OpBuilder &builder, Location loc, Value condition,
                    const Twine &message, ValueRange values) {
  std::string node = nodeNameOf(loc), text;
  if (!node.empty())
    text = "node '" + node + "': ";
  RequireOp::create(builder, loc, condition, text + message.str(), values);
}
