//===- ControlFlow.cpp - If, Loop, Scan -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Helpers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static Region *findGraph(Node &node, StringRef name) {
  if (!node.op.getRegionNames())
    return nullptr;
  for (auto [region, label] :
       llvm::zip_equal(node.op.getGraphs(),
                       node.op.getRegionNames()->getAsValueRange<StringAttr>()))
    if (label == name)
      return &region;
  return nullptr;
}

/// Takes the branch that a constant condition decides for; its nodes are
/// legalized next.
static LogicalResult legalizeIf(Node &node) {
  auto condition = node.getConstantInts(0);
  if (!condition)
    return node.unsupported("a computed condition");
  if (condition->size() != 1)
    return node.invalid("the condition needs one element");
  Region *graph =
      findGraph(node, condition->front() ? "then_branch" : "else_branch");
  if (!graph || !graph->hasOneBlock())
    return node.invalid("a branch is missing");
  Block &block = graph->front();
  auto yield = dyn_cast<onnx::YieldOp>(block.getTerminator());
  if (!yield || yield.getNumOperands() != node.numOutputs())
    return node.invalid("the branch does not give " +
                        Twine(node.numOutputs()) + " values");
  SmallVector<Value> values(yield.getOperands());
  Block *parent = node.op->getBlock();
  parent->getOperations().splice(node.op->getIterator(), block.getOperations(),
                                 block.begin(), yield->getIterator());
  return node.replace(values);
}

static LogicalResult refuse(Node &node) {
  return node.unsupported("loops are not lowered yet");
}

void legalize::populateControlFlow(Legalizers &legalizers) {
  legalizers.add("If", legalizeIf);
  legalizers.add("Loop", refuse);
  legalizers.add("Scan", refuse);
}
