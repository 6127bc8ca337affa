//===- Elementwise.cpp - elementwise operators ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Legalize.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

template <typename Op>
static LogicalResult legalizeUnary(Node &node) {
  auto y = node.infer<Op>(node.input(0));
  return failed(y) ? failure() : node.replace(*y);
}

template <typename Op>
static LogicalResult legalizeBinary(Node &node) {
  auto y = node.infer<Op>(node.input(0), node.input(1));
  return failed(y) ? failure() : node.replace(*y);
}

void legalize::populateElementwise(Legalizers &legalizers) {
  legalizers.add("Relu", legalizeUnary<nn::ReluOp>);
  legalizers.add("Add", legalizeBinary<nn::AddOp>);
}
