//===- ControlFlow.cpp - If ----------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ControlFlow.h"

#include "passes/support/RunChecks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

Block *legalize::findBody(Node &node, StringRef name) {
  if (!node.op.getRegionNames())
    return nullptr;
  for (auto [region, label] :
       llvm::zip_equal(node.op.getGraphs(),
                       node.op.getRegionNames()->getAsValueRange<StringAttr>()))
    if (label == name && region.hasOneBlock() &&
        isa<onnx::YieldOp>(region.front().back()))
      return &region.front();
  return nullptr;
}

RankedTensorType legalize::joinTypes(RankedTensorType a, RankedTensorType b) {
  if (!a || !b || a.getRank() != b.getRank() ||
      a.getElementType() != b.getElementType())
    return {};
  SmallVector<int64_t> shape(a.getShape());
  for (auto [size, other] : llvm::zip_equal(shape, b.getShape()))
    if (size != other)
      size = ShapedType::kDynamic;
  return RankedTensorType::get(shape, a.getElementType());
}

Value legalize::castSizes(OpBuilder &builder, Location loc, Value value,
                          Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(builder, loc, type, value);
}

Value legalize::onlyElement(OpBuilder &builder, Location loc, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  Value zero = rank ? arith::ConstantIndexOp::create(builder, loc, 0) : Value();
  return tensor::ExtractOp::create(builder, loc, tensor,
                                   SmallVector<Value>(rank, zero));
}

/// Takes the branch that a constant condition decides for; its nodes are
/// legalized next.
static LogicalResult takeBranch(Node &node, bool condition) {
  Block *block = findBody(node, condition ? "then_branch" : "else_branch");
  if (!block)
    return node.invalid("a branch is missing");
  auto yield = cast<onnx::YieldOp>(block->getTerminator());
  if (yield.getNumOperands() != node.numOutputs())
    return node.invalid("the branch does not give " +
                        Twine(node.numOutputs()) + " values");
  SmallVector<Value> values(yield.getOperands());
  Block *parent = node.op->getBlock();
  parent->getOperations().splice(node.op->getIterator(), block->getOperations(),
                                 block->begin(), yield->getIterator());
  return node.replace(values);
}

/// What both branches give for an output is of one type but for its sizes.
static FailureOr<RankedTensorType> typeOfOutput(Node &node, size_t i,
                                                ArrayRef<Value> values) {
  RankedTensorType types[2];
  for (int branch : {0, 1}) {
    types[branch] = dyn_cast<RankedTensorType>(values[branch].getType());
    if (!types[branch])
      return node.unsupported("output " + Twine(i) + " is not a tensor");
  }
  if (types[0].getElementType() != types[1].getElementType())
    return node.invalid("output " + Twine(i) +
                        " has another element type in each branch");
  if (types[0].getRank() != types[1].getRank())
    return node.unsupported("output " + Twine(i) + " has rank " +
                            Twine(types[0].getRank()) +
                            " in one branch and " + Twine(types[1].getRank()) +
                            " in the other, with a computed condition");
  return joinTypes(types[0], types[1]);
}

static LogicalResult legalizeIf(Node &node) {
  if (!node.has(0) || !node.elementType(0).isInteger(1))
    return node.invalid("the condition needs to be a bool");
  if (node.type(0).hasStaticShape() && node.type(0).getNumElements() != 1)
    return node.invalid("the condition needs one element");
  if (auto condition = node.getConstantInts(0))
    return takeBranch(node, condition->front());
  Block *branches[] = {findBody(node, "then_branch"),
                       findBody(node, "else_branch")};
  for (Block *block : branches) {
    if (!block || block->getNumArguments() != 0)
      return node.invalid("a branch is missing, or has inputs");
    if (block->getTerminator()->getNumOperands() != node.numOutputs())
      return node.invalid("the branch does not give " +
                          Twine(node.numOutputs()) + " values");
  }
  // Both are looked at, so that all that they lack is told.
  bool areLegal = true;
  for (Block *block : branches)
    areLegal &= succeeded(node.legalizeBody(*block, /*quiet=*/false));
  if (!areLegal)
    return failure();
  SmallVector<Type> types;
  for (size_t i = 0; i < node.numOutputs(); ++i) {
    Value values[] = {branches[0]->getTerminator()->getOperand(i),
                      branches[1]->getTerminator()->getOperand(i)};
    FailureOr<RankedTensorType> type = typeOfOutput(node, i, values);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  OpBuilder builder(node.op);
  Location loc = node.loc();
  if (!node.type(0).hasStaticShape()) {
    Value one = arith::ConstantIndexOp::create(builder, loc, 1), count = one;
    for (int64_t i = 0; i < node.rank(0); ++i)
      count = arith::MulIOp::create(
          builder, loc, count,
          tensor::DimOp::create(builder, loc, node.input(0), i));
    require(builder, loc,
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  count, one),
            "the condition has {0} elements, not 1", count);
  }
  Value condition = onlyElement(builder, loc, node.input(0));
  auto branch = scf::IfOp::create(builder, loc, types, condition,
                                  /*withElseRegion=*/true);
  Region *regions[] = {&branch.getThenRegion(), &branch.getElseRegion()};
  for (auto [region, block] : llvm::zip_equal(regions, branches)) {
    region->takeBody(*block->getParent());
    Operation *yield = region->front().getTerminator();
    builder.setInsertionPoint(yield);
    SmallVector<Value> values;
    for (auto [value, type] : llvm::zip_equal(yield->getOperands(), types))
      values.push_back(castSizes(builder, loc, value, type));
    scf::YieldOp::create(builder, loc, values);
    yield->erase();
  }
  return node.replace(branch.getResults());
}

void legalize::populateControlFlow(Legalizers &legalizers) {
  legalizers.add("If", legalizeIf);
}
