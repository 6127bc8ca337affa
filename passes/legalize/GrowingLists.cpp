//===- GrowingLists.cpp - lists that loops append to ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `outputs.append(y)` in a loop of PyTorch is a state that is a sequence, which
// each step inserts an element into. Of a loop in many steps, or in as many as
// only the run knows, that is what a scan output is: a row for each step.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/LoopForm.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// The value that a body appends to the list `before`, if all that it does with
/// the list is to give that as `after`.
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

SmallVector<size_t> legalize::stackLists(LoopForm &form) {
  SmallVector<size_t> lists;
  size_t own = form.isLoop ? 2 : 0;
  Operation *end = form.body->getTerminator();
  SmallVector<Value> gives(end->getOperands()), rows, init;
  llvm::BitVector arguments(form.body->getNumArguments());
  for (auto [i, state] : llvm::enumerate(form.init)) {
    Value appended;
    auto start = state.getDefiningOp<onnx::SequenceOp>();
    if (start)
      appended = appendedTo(form.body->getArgument(own + i),
                            gives[own / 2 + i]);
    if (!appended) {
      init.push_back(state);
      continue;
    }
    lists.push_back(i);
    rows.push_back(appended);
    arguments.set(own + i);
    Stacked stacked;
    stacked.output = i;
    stacked.start = start.getElements();
    form.stacked.push_back(stacked);
  }
  if (lists.empty())
    return lists;
  form.init = init;
  SmallVector<Operation *> inserts;
  for (size_t i : llvm::reverse(lists)) {
    inserts.push_back(gives[own / 2 + i].getDefiningOp());
    gives.erase(gives.begin() + own / 2 + i);
  }
  llvm::append_range(gives, rows);
  end->setOperands(gives);
  for (Operation *insert : inserts)
    insert->erase();
  form.body->eraseArguments(arguments);
  return lists;
}

SmallVector<Value> legalize::restoreLists(Node &node, ArrayRef<size_t> lists,
                                          ArrayRef<Value> values) {
  SmallVector<Value> restored(values.drop_back(lists.size()));
  OpBuilder builder(node.op);
  for (auto [i, rows] :
       llvm::zip_equal(lists, values.take_back(lists.size()))) {
    Value list; // null where nobody reads it
    if (rows)
      list = onnx::RowsOp::create(builder, node.loc(), rows);
    restored.insert(restored.begin() + i, list);
  }
  return restored;
}
