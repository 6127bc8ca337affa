//===- LastUse.cpp - last uses of values ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/LastUse.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

static constexpr unsigned kMaxUsers = 64;

bool ingot::isPureReshape(Operation *op) {
  return isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

static bool diesAt(Value value, Operation *user, unsigned &left) {
  return llvm::all_of(value.getUsers(), [&](Operation *other) {
    if (left-- == 0) {
      left = 0;
      return false;
    }
    if (other == user)
      return true;
    if (ingot::isPureReshape(other))
      return diesAt(other->getResult(0), user, left);
    Operation *beside = user->getBlock()->findAncestorOpInBlock(*other);
    return beside && beside->isBeforeInBlock(user);
  });
}

bool ingot::diesAt(Value value, Operation *user) {
  unsigned left = kMaxUsers;
  return ::diesAt(value, user, left);
}
