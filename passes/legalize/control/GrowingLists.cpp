//===- GrowingLists.cpp - loop states that are sequences ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes loop states that are sequences. An example is `outputs.append(y)`
// in a PyTorch loop: each step inserts an element into the state. In a loop
// that is not unrolled, such a state becomes a scan output with a row per step.
// A list that steps read, shorten or fill in another order becomes a tensor of
// rows. Its size changes from step to step.
//
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/control/LoopForm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns the value that a body appends to the list `before`. The list must
/// have no other use, and `after` must be the extended list.
static Value appendedTo(Value before, Value after) {
  auto insert = after.getDefiningOp<onnx::NodeOp>();
  if (!insert || insert.getOpType() != "SequenceInsert" ||
      !insert.getDomain().empty() || insert.getInputs().size() < 2 ||
      insert.getInputs()[0] != before || !before.hasOneUse() ||
      !after.hasOneUse())
    return {};
  bool isLast = insert.getInputs().size() == 2 ||
                insert.getInputs()[2].getDefiningOp<onnx::AbsentOp>();
  return isLast ? insert.getInputs()[1] : Value();
}

SmallVector<GrowingList> legalize::stackLists(LoopForm &form) {
  SmallVector<GrowingList> lists;
  size_t own = form.isLoop ? 2 : 0;
  Operation *end = form.body->getTerminator();
  SmallVector<Value> gives(end->getOperands()), rows, init;
  llvm::BitVector arguments(form.body->getNumArguments());
  for (auto [i, state] : llvm::enumerate(form.init)) {
    Value appended;
    auto start = state.getDefiningOp<onnx::SequenceOp>();
    auto before = state.getDefiningOp<onnx::RowsOp>();
    if (start || before)
      appended = appendedTo(form.body->getArgument(own + i),
                            gives[own / 2 + i]);
    if (!appended) {
      init.push_back(state);
      continue;
    }
    lists.push_back({i, before ? before.getTensor() : Value()});
    rows.push_back(appended);
    arguments.set(own + i);
    Stacked stacked;
    stacked.output = i;
    if (start)
      stacked.start = start.getElements();
    form.stacked.push_back(stacked);
  }
  if (lists.empty())
    return lists;
  form.init = init;
  SmallVector<Operation *> inserts;
  for (const GrowingList &list : llvm::reverse(lists)) {
    inserts.push_back(gives[own / 2 + list.state].getDefiningOp());
    gives.erase(gives.begin() + own / 2 + list.state);
  }
  llvm::append_range(gives, rows);
  end->setOperands(gives);
  for (Operation *insert : inserts)
    insert->erase();
  form.body->eraseArguments(arguments);
  return lists;
}

Value legalize::noRowsOf(Node &node, RankedTensorType type, Operation *place) {
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 0;
  OpBuilder builder(place);
  return ShapedType::isDynamicShape(shape)
             ? Value()
             : tensor::EmptyOp::create(builder, node.loc(), shape,
                                       type.getElementType());
}

/// Returns an empty tensor of rows for state i, which is an empty list at
/// first. The first step determines the type of the rows. Returns null if the
/// state is not a list with rows of one type.
static Value noRows(Node &node, const LoopForm &form, size_t i) {
  SmallVector<Type> types;
  SmallVector<Value> arguments(form.isLoop ? 2 : 0);
  if (form.isLoop)
    types.append({typeOfNumber(node, form), Type()});
  for (Value state : form.init) {
    types.push_back(state.getType());
    bool isTensor = isa<RankedTensorType>(state.getType());
    arguments.push_back(isTensor ? Value() : state);
  }
  for (const Scanned &scanned : form.scanned)
    types.push_back(typeOfRow(scanned));
  auto draft = draftBody(node, form, types, arguments, /*quiet=*/true);
  if (failed(draft))
    return {};
  RankedTensorType type = typeOfRows(draft->states[i]);
  draft->op.erase();
  return type ? noRowsOf(node, type, node.op) : Value();
}

/// Changes state i from a list to the tensor `rows`.
static void carryList(Node &node, LoopForm &form, size_t i, Value rows) {
  form.init[i] = rows;
  form.lists.push_back(i);
  // Steps may change the number of rows.
  SmallVector<int64_t> shape(typeOf(rows).getShape());
  shape[0] = ShapedType::kDynamic;
  BlockArgument argument = form.body->getArgument((form.isLoop ? 2 : 0) + i);
  argument.setType(typeOf(rows).clone(shape));
  OpBuilder builder = OpBuilder::atBlockBegin(form.body);
  auto list = onnx::RowsOp::create(builder, node.loc(), argument);
  argument.replaceAllUsesExcept(list, list);
}

void legalize::carryLists(Node &node, LoopForm &form) {
  for (size_t i = 0; i < form.init.size(); ++i)
    if (Value rows = rowsOfList(node, form.init[i], node.op))
      carryList(node, form, i, rows);
  for (size_t i = 0; i < form.init.size(); ++i)
    if (!isa<RankedTensorType>(form.init[i].getType()))
      if (Value rows = noRows(node, form, i))
        carryList(node, form, i, rows);
}

FailureOr<SmallVector<Value>>
legalize::restoreLists(Node &node, const LoopForm &form,
                       ArrayRef<GrowingList> lists, SmallVector<Value> values) {
  OpBuilder builder(node.op);
  auto listOf = [&](Value rows) -> Value {
    return onnx::RowsOp::create(builder, node.loc(), rows);
  };
  for (size_t i : form.lists)
    values[i] = listOf(values[i]);
  SmallVector<Value> appended(
      ArrayRef<Value>(values).take_back(lists.size()));
  values.truncate(values.size() - lists.size());
  for (auto [list, rows] : llvm::zip_equal(lists, appended)) {
    // `rows` is null if it has no uses.
    if (rows && list.before && !(rows = concat(node, {list.before, rows}, 0)))
      return failure();
    values.insert(values.begin() + list.state, rows ? listOf(rows) : rows);
  }
  return values;
}
