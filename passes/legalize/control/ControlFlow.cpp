//===- ControlFlow.cpp - If ----------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/control/ControlFlow.h"

#include "passes/support/RunChecks.h"
#include "passes/support/UserText.h"

#include "llvm/ADT/ScopeExit.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

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

/// Inlines the branch that a constant condition selects. The pass legalizes its
/// nodes next.
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

/// Reports why an output is neither a tensor nor a list of tensors of one type.
static LogicalResult refuseOutput(Node &node, size_t i,
                                  ArrayRef<Value> values) {
  onnx::SequenceOp lists[] = {values[0].getDefiningOp<onnx::SequenceOp>(),
                              values[1].getDefiningOp<onnx::SequenceOp>()};
  if (isa<NoneType>(values[0].getType()) != isa<NoneType>(values[1].getType()))
    return node.unsupported("output " + Twine(i) + " is an empty optional in "
                            "one branch only, with a computed condition");
  if (!lists[0] || !lists[1])
    return node.unsupported("output " + Twine(i) + " is not a tensor");
  size_t counts[] = {lists[0].getElements().size(),
                     lists[1].getElements().size()};
  if (counts[0] != counts[1])
    return node.unsupported("output " + Twine(i) + " is a sequence of " +
                            Twine(counts[0]) + " tensors in one branch and "
                            "of " + Twine(counts[1]) +
                            " in the other, with a computed condition");
  return node.unsupported("output " + Twine(i) + " is a sequence of tensors of "
                          "other types in each branch, with a computed "
                          "condition");
}

/// Returns the type of an output. In both branches it must have one element
/// type and one rank.
static FailureOr<RankedTensorType> typeOfOutput(Node &node, size_t i,
                                                ArrayRef<Value> values) {
  RankedTensorType types[2];
  for (int branch : {0, 1}) {
    types[branch] = dyn_cast<RankedTensorType>(values[branch].getType());
    if (!types[branch])
      return refuseOutput(node, i, values);
  }
  if (types[0].getElementType() != types[1].getElementType())
    return node.invalid("output " + Twine(i) +
                        " has another element type in each branch");
  if (types[0].getRank() != types[1].getRank())
    return node.unsupported("output " + Twine(i) + " has rank " +
                            Twine(types[0].getRank()) + " in one branch and " +
                            Twine(types[1].getRank()) +
                            " in the other, with a computed condition; give "
                            "both one rank, or make the condition constant");
  return joinTypes(types[0], types[1]);
}

/// Returns the condition as an i1. Checks at run time that it has one element.
static Value readCondition(Node &node, OpBuilder &builder) {
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
  return onlyElement(builder, loc, node.input(0));
}

/// Legalizes both branches. Exporters write a branch for each rank that a
/// tensor might have, so an invalid branch may be for inputs that never occur.
/// If one branch is invalid, `only` becomes the index of the valid branch.
/// Reports the errors if a branch is not supported or if both branches are
/// invalid.
static LogicalResult legalizeBranches(Node &node, ArrayRef<Block *> branches,
                                      std::optional<int> &only,
                                      std::string &why) {
  bool isLegal[2], lacks[2];
  for (int i : {0, 1}) {
    isLegal[i] = succeeded(node.legalizeBody(*branches[i], /*quiet=*/true));
    lacks[i] = !isLegal[i] && node.progress.quietLacksSupport;
    if (!isLegal[i] && why.empty())
      why = node.progress.whyQuiet;
  }
  if (isLegal[0] && isLegal[1])
    return success();
  for (int i : {0, 1})
    if (isLegal[i] && !lacks[1 - i]) {
      only = i;
      return success();
    }
  // Legalizes both, so that all their errors are reported.
  for (int i : {0, 1})
    if (!isLegal[i])
      (void)node.legalizeBody(*branches[i], /*quiet=*/false);
  return failure();
}

static bool agree(Value a, Value b) {
  return joinTypes(dyn_cast<RankedTensorType>(a.getType()),
                   dyn_cast<RankedTensorType>(b.getType())) != nullptr;
}

/// Returns true for sequences of equal length whose tensors have the same
/// element types and ranks.
static bool areAlike(onnx::SequenceOp a, onnx::SequenceOp b) {
  return a && b && a.getElements().size() == b.getElements().size() &&
         llvm::all_of(llvm::zip_equal(a.getElements(), b.getElements()),
                      [](auto pair) {
                        return agree(std::get<0>(pair), std::get<1>(pair));
                      });
}

static bool isEmptyList(Value list) {
  auto sequence = list.getDefiningOp<onnx::SequenceOp>();
  return sequence && sequence.getElements().empty();
}

/// Returns true if two lists can be the rows of one tensor with a dynamic
/// number of rows.
static bool agreeAsRows(Value a, Value b) {
  RankedTensorType types[] = {typeOfRows(a), typeOfRows(b)};
  if (types[0] && types[1])
    return joinTypes(types[0], types[1]) != nullptr;
  RankedTensorType type = types[0] ? types[0] : types[1];
  return type && isEmptyList(types[0] ? b : a) &&
         !ShapedType::isDynamicShape(type.getShape().drop_front());
}

/// Returns true if both branches give values of the same rank and element type.
/// Lists of known lengths may differ in their rows, because the nodes behind
/// the If may be copied into the branches.
static bool agree(ArrayRef<Block *> branches) {
  for (auto [a, b] :
       llvm::zip_equal(branches[0]->getTerminator()->getOperands(),
                       branches[1]->getTerminator()->getOperands()))
    if (!agree(a, b) && !areAlike(a.getDefiningOp<onnx::SequenceOp>(),
                                  b.getDefiningOp<onnx::SequenceOp>())) {
      bool isKnown = !a.getDefiningOp<onnx::RowsOp>() &&
                     !b.getDefiningOp<onnx::RowsOp>();
      if (isKnown || !agreeAsRows(a, b))
        return false;
    }
  return true;
}

namespace {

/// The form of a value that both branches give.
struct JoinedForm {
  /// The number of tensors of a sequence. Nullopt if the value is not a
  /// sequence of known length.
  std::optional<size_t> count;
  /// True if the value is a tensor with the rows of a sequence.
  bool isRows = false;
};

} // namespace

/// Replaces sequences in the results of the branches. If both sequences have
/// the same length, their tensors replace them. Otherwise a tensor whose rows
/// are the elements replaces each sequence.
static SmallVector<JoinedForm> spreadSequences(Node &node,
                                               ArrayRef<Block *> branches) {
  SmallVector<JoinedForm> parts;
  SmallVector<Value> values[2];
  for (auto [a, b] :
       llvm::zip_equal(branches[0]->getTerminator()->getOperands(),
                       branches[1]->getTerminator()->getOperands())) {
    auto first = a.getDefiningOp<onnx::SequenceOp>(),
         second = b.getDefiningOp<onnx::SequenceOp>();
    parts.emplace_back();
    if (areAlike(first, second)) {
      parts.back().count = first.getElements().size();
      llvm::append_range(values[0], first.getElements());
      llvm::append_range(values[1], second.getElements());
      continue;
    }
    if (agreeAsRows(a, b)) {
      parts.back().isRows = true;
      RankedTensorType type = typeOfRows(isEmptyList(a) ? b : a);
      const Value lists[] = {a, b};
      for (auto [list, block, given] :
           llvm::zip_equal(lists, branches, values)) {
        Operation *end = block->getTerminator();
        given.push_back(isEmptyList(list) ? noRowsOf(node, type, end)
                                          : rowsOfList(node, list, end));
      }
      continue;
    }
    values[0].push_back(a);
    values[1].push_back(b);
  }
  for (auto [block, given] : llvm::zip_equal(branches, values))
    block->getTerminator()->setOperands(given);
  return parts;
}

/// Restores the values that `parts` describe from `results`.
static SmallVector<Value> gatherSequences(OpBuilder &builder, Location loc,
                                          ValueRange results,
                                          ArrayRef<JoinedForm> parts) {
  SmallVector<Value> values;
  for (const JoinedForm &part : parts) {
    ValueRange own = results.take_front(part.count.value_or(1));
    results = results.drop_front(own.size());
    if (part.count)
      values.push_back(onnx::SequenceOp::create(builder, loc, own));
    else if (part.isRows)
      values.push_back(onnx::RowsOp::create(builder, loc, own.front()));
    else
      values.push_back(own.front());
  }
  return values;
}

/// Copies the nodes behind the If into both branches, which then give the
/// results of the whole block. This is needed if values of the branches have
/// different ranks, because later nodes then need different code.
static LogicalResult copyTail(Node &node, MutableArrayRef<Block *> branches,
                              onnx::NodeOp &copy) {
  Operation *end = node.op->getBlock()->getTerminator();
  int64_t count = 0;
  for (Operation *op = node.op->getNextNode(); op != end;
       op = op->getNextNode())
    op->walk([&](onnx::NodeOp) { ++count; });
  if (end->getNumOperands() == 0 || count > node.progress.nodesToCopy)
    return failure();
  node.progress.nodesToCopy -= count;
  // Copies the node, so that the original can be reported if this fails.
  copy = cast<onnx::NodeOp>(OpBuilder(node.op).clone(*node.op));
  for (Block *&branch : branches) {
    branch = &copy->getRegion(branch->getParent()->getRegionNumber()).front();
    Operation *yield = branch->getTerminator();
    IRMapping mapping;
    mapping.map(node.op.getOutputs(), yield->getOperands());
    OpBuilder builder(yield);
    for (Operation *op = node.op->getNextNode(); op != end;
         op = op->getNextNode())
      builder.clone(*op, mapping);
    SmallVector<Value> values;
    for (Value value : end->getOperands())
      values.push_back(mapping.lookupOrDefault(value));
    yield->setOperands(values);
  }
  return success();
}

/// Replaces the results of the whole block by `values`, and erases the nodes
/// behind the If.
static LogicalResult replaceTail(Node &node, ValueRange values) {
  Block *block = node.op->getBlock();
  block->getTerminator()->setOperands(values);
  while (block->getTerminator()->getPrevNode() != node.op)
    block->getTerminator()->getPrevNode()->erase();
  return success();
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
  std::optional<int> only;
  std::string why;
  if (failed(legalizeBranches(node, branches, only, why)))
    return failure();
  onnx::NodeOp copy;
  bool withTail = !only && !agree(branches) &&
                  succeeded(copyTail(node, branches, copy));
  llvm::scope_exit eraseCopy([&] {
    if (copy)
      copy.erase();
  });
  if (withTail && failed(legalizeBranches(node, branches, only, why)))
    return failure();
  OpBuilder builder(node.op);
  Location loc = node.loc();
  if (only) {
    Value holds = readCondition(node, builder);
    if (*only == 1)
      holds = arith::XOrIOp::create(
          builder, loc, holds,
          arith::ConstantIntOp::create(builder, loc, true, 1));
    require(builder, loc, holds,
            Twine("its ") + (*only == 0 ? "else" : "then") +
                " branch cannot be taken: " + toUserText(why));
    Block *block = branches[*only];
    SmallVector<Value> values(block->getTerminator()->getOperands());
    node.op->getBlock()->getOperations().splice(
        node.op->getIterator(), block->getOperations(), block->begin(),
        block->getTerminator()->getIterator());
    return withTail ? replaceTail(node, values) : node.replace(values);
  }
  SmallVector<JoinedForm> parts = spreadSequences(node, branches);
  SmallVector<Type> types;
  for (size_t i = 0; i < branches[0]->getTerminator()->getNumOperands(); ++i) {
    Value values[] = {branches[0]->getTerminator()->getOperand(i),
                      branches[1]->getTerminator()->getOperand(i)};
    FailureOr<RankedTensorType> type = typeOfOutput(node, i, values);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  auto branch = scf::IfOp::create(builder, loc, types,
                                  readCondition(node, builder),
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
    eraseUnusedPlaceholders(region->front());
  }
  builder.setInsertionPointAfter(branch);
  SmallVector<Value> results =
      gatherSequences(builder, loc, branch.getResults(), parts);
  return withTail ? replaceTail(node, results) : node.replace(results);
}

void legalize::populateControlFlow(Legalizers &legalizers) {
  legalizers.add("If", legalizeIf);
}
