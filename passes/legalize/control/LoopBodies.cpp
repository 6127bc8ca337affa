//===- LoopBodies.cpp - bodies of loops, and unrolling --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/control/LoopForm.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

RankedTensorType legalize::typeOfRow(const Scanned &scanned) {
  RankedTensorType type = typeOf(scanned.value);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + scanned.axis);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Returns the type of a value with one element: rank 1 if the body declares
/// its argument so, else rank 0.
static RankedTensorType typeOfOne(Node &node, Value argument, Type element) {
  auto declared = dyn_cast<RankedTensorType>(argument.getType());
  SmallVector<int64_t> shape;
  if (declared && declared.getRank() == 1)
    shape.push_back(1);
  return RankedTensorType::get(shape, element);
}

RankedTensorType legalize::typeOfNumber(Node &node, const LoopForm &form) {
  return typeOfOne(node, form.body->getArgument(0), node.builder.getI64Type());
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Checks that the condition of a body is one bool. A dynamic size is checked
/// at run time.
static LogicalResult checkCondition(Node &node, Value condition, bool quiet) {
  auto type = dyn_cast<RankedTensorType>(condition.getType());
  bool isOne = type && type.getElementType().isInteger(1) &&
               llvm::all_of(type.getShape(), [](int64_t size) {
                 return size == 1 || ShapedType::isDynamic(size);
               });
  if (isOne || quiet)
    return success(isOne);
  std::string text = debugString(condition.getType());
  return node.invalid("the condition that the body gives must be one bool, but "
                      "is " + text);
}

FailureOr<Draft> legalize::draftBody(Node &node, const LoopForm &form,
                                     ArrayRef<Type> types,
                                     ArrayRef<Value> arguments, bool quiet) {
  OpBuilder builder(node.op);
  auto copy = cast<onnx::NodeOp>(builder.insert(node.op->clone()));
  Block &body =
      copy->getRegion(form.body->getParent()->getRegionNumber()).front();
  builder.setInsertionPointToStart(&body);
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    if (form.isLoop && i == 1) {
      auto type = typeOfOne(node, form.body->getArgument(1),
                            builder.getI1Type());
      argument.replaceAllUsesWith(arith::ConstantOp::create(
          builder, node.loc(), DenseElementsAttr::get(type, true)));
    } else if (i < arguments.size() && arguments[i]) {
      argument.replaceAllUsesWith(arguments[i]);
    } else {
      argument.setType(types[i]);
    }
  }
  if (failed(node.legalizeBody(body, quiet))) {
    if (quiet)
      copy.erase();
    return failure();
  }
  for (size_t i : form.lists) {
    OpOperand &given = body.getTerminator()->getOpOperand(form.isLoop + i);
    if (Value rows = rowsOfList(node, given.get(), body.getTerminator()))
      given.set(rows);
  }
  eraseUnusedPlaceholders(body);
  Draft draft;
  draft.op = copy;
  draft.body = &body;
  ValueRange results = body.getTerminator()->getOperands();
  for (auto [i, result] : llvm::enumerate(results))
    if (!isa<RankedTensorType>(result.getType()) &&
        !result.getDefiningOp<onnx::SequenceOp>() &&
        !result.getDefiningOp<onnx::RowsOp>()) {
      if (quiet) {
        copy.erase();
        return failure();
      }
      return node.unsupported("value " + Twine(i) +
                              " that the body gives is not a tensor");
    }
  if (form.isLoop) {
    draft.goesOn = results.front();
    results = results.drop_front();
    if (failed(checkCondition(node, draft.goesOn, quiet))) {
      if (quiet)
        copy.erase();
      return failure();
    }
  }
  draft.states.assign(results.begin(), results.begin() + form.init.size());
  draft.rows.assign(results.begin() + form.init.size(), results.end());
  return draft;
}

std::optional<bool> legalize::constantGoesOn(const Draft &draft) {
  if (!draft.goesOn)
    return true;
  auto known = nn::getConstantInts(draft.goesOn);
  if (!known || known->size() != 1)
    return std::nullopt;
  return known->front() != 0;
}

static int64_t countNodes(Block &body) {
  int64_t count = 0;
  body.walk([&](onnx::NodeOp) { ++count; });
  return count;
}

FailureOr<int64_t> legalize::stackedAxis(Node &node, const Stacked &stacked,
                                         size_t i, int64_t rank) {
  return node.normalizeAxis(stacked.axis, rank + 1, "scan_output_axes", i);
}

//===----------------------------------------------------------------------===//
// Unrolling
//===----------------------------------------------------------------------===//

std::optional<SmallVector<Value>> legalize::unroll(Node &node,
                                                   const LoopForm &form) {
  auto trip = form.trip ? getConstantIntValue(form.trip) : std::nullopt;
  if (trip == 0 && form.stacked.empty())
    return SmallVector<Value>(form.init);
  bool hasList = llvm::any_of(form.init, [](Value state) {
    return state.getDefiningOp<onnx::SequenceOp>() != nullptr;
  });
  // The limit is high for a sequence, because such a loop can only be unrolled.
  int64_t most =
      hasList ? threshold::unrolledListNodes : threshold::unrolledNodes;
  if (!trip || *trip < 1 || form.go || *trip > most ||
      *trip * countNodes(*form.body) > most)
    return std::nullopt;
  SmallVector<Operation *> placed;
  auto giveUp = [&] {
    for (Operation *op : llvm::reverse(placed))
      op->erase();
    return std::nullopt;
  };
  Block *parent = node.op->getBlock();
  SmallVector<Value> states(form.init);
  SmallVector<SmallVector<Value>> rows(form.stacked.size());
  for (int64_t step = 0; step < *trip; ++step) {
    SmallVector<Value> arguments;
    if (form.isLoop) {
      arguments.push_back(
          intConstant(node, step, typeOfNumber(node, form).getShape()));
      arguments.push_back(Value());
    }
    llvm::append_range(arguments, states);
    for (const Scanned &scanned : form.scanned) {
      int64_t at = scanned.isReversed ? *trip - 1 - step : step;
      Sizes sizes = sizesOf(node, scanned.value);
      sizes.erase(sizes.begin() + scanned.axis);
      arguments.push_back(reshape(
          node, sliceAxis(node, scanned.value, scanned.axis, at, 1), sizes));
    }
    FailureOr<Draft> draft =
        draftBody(node, form, {}, arguments, /*quiet=*/true);
    if (failed(draft))
      return giveUp();
    auto goesOn = constantGoesOn(*draft);
    bool fits = goesOn.has_value();
    for (auto [next, before] : llvm::zip_equal(draft->states, states)) {
      auto from = dyn_cast<RankedTensorType>(before.getType()),
           to = dyn_cast<RankedTensorType>(next.getType());
      fits &= from && to ? from.getElementType() == to.getElementType()
                         : !from && !to;
    }
    for (auto [row, before] : llvm::zip_equal(draft->rows, rows))
      fits &= isa<RankedTensorType>(row.getType()) &&
              (before.empty() || row.getType() == before.back().getType());
    if (!fits) {
      draft->op.erase();
      return giveUp();
    }
    for (Operation &op : draft->body->without_terminator())
      placed.push_back(&op);
    Operation *terminator = draft->body->getTerminator();
    parent->getOperations().splice(
        node.op->getIterator(), draft->body->getOperations(),
        draft->body->begin(), terminator->getIterator());
    draft->op.erase();
    states = draft->states;
    for (auto [row, all] : llvm::zip_equal(draft->rows, rows))
      all.push_back(row);
    if (!*goesOn)
      break;
  }
  SmallVector<Value> results(states);
  for (auto [i, all] : llvm::enumerate(rows)) {
    int64_t rank = typeOf(all.front()).getRank() + 1;
    int64_t axis = form.stacked[i].axis;
    // Gives up here, because building the loop reports the error.
    if (!nn::positionsOf(rank).contains(axis))
      return giveUp();
    axis += axis < 0 ? rank : 0;
    if (form.stacked[i].isReversed)
      std::reverse(all.begin(), all.end());
    results.push_back(joinRows(node, all, axis));
  }
  return results;
}
