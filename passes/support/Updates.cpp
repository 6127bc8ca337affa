//===- Updates.cpp - how updates of a scatter combine ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Updates.h"

#include "passes/support/Tensors.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

Value UpdateRule::combine(OpBuilder &b, Location loc, Value old,
                          Value update) const {
  switch (reduction) {
  case nn::ScatterReduction::none:
    return update;
  case nn::ScatterReduction::add:
    return addScalars(b, loc, old, update);
  case nn::ScatterReduction::mul:
    return mulScalars(b, loc, old, update);
  case nn::ScatterReduction::max:
    return maxScalars(b, loc, old, update, isUnsigned);
  case nn::ScatterReduction::min:
    return minScalars(b, loc, old, update, isUnsigned);
  }
  return update;
}
