//===- LoopForm.h - common form of Loop and Scan ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CONTROL_LOOPFORM_H
#define INGOT_PASSES_LEGALIZE_CONTROL_LOOPFORM_H

#include "passes/legalize/control/ControlFlow.h"

namespace ingot::legalize {

/// A tensor. Each step reads a slice of it.
struct Scanned {
  Value value;
  int64_t axis = 0;
  bool isReversed = false;
};

/// Layout of the stacked rows of a scan output.
struct Stacked {
  int64_t axis = 0;
  bool isReversed = false;
  /// Index of the node's output.
  size_t output = 0;
  /// Rows in front of the rows that the steps give.
  SmallVector<Value> start;
};

/// The normalized form of a Loop or a Scan. The body's arguments are states and
/// slices. In a Loop, the step number and the condition come before the states.
/// The body's results are states and rows. In a Loop, the condition comes
/// before the states.
struct LoopForm {
  mlir::Block *body = nullptr;
  bool isLoop = false;
  /// Trip count of type index. Null if only the condition ends the loop.
  Value trip;
  /// True if there is a first step, as an i1. Null means true.
  Value go;
  SmallVector<Value> init;
  SmallVector<Scanned> scanned;
  SmallVector<Stacked> stacked;
  /// Indices of the states that were ONNX sequences. Each of these states is
  /// now one tensor. Row i of the tensor is element i of the sequence.
  SmallVector<size_t> lists;
};

/// A list that the steps of a loop only append to.
struct GrowingList {
  /// Index of the state that held the list.
  size_t state = 0;
  /// Rows in front of the rows that steps append. Null if Stacked::start has
  /// them.
  Value before;
};

/// A copy of the body with arguments of certain types, legalized in front of
/// the node.
struct Draft {
  onnx::NodeOp op;
  mlir::Block *body = nullptr;
  /// The condition for another step, which the body computes. Null for a Scan.
  Value goesOn;
  SmallVector<Value> states, rows;
};

/// Returns the type of one row of a scanned value. The row lacks the scan axis.
RankedTensorType typeOfRow(const Scanned &scanned);
/// Returns the type of the body's argument for the step number.
RankedTensorType typeOfNumber(Node &node, const LoopForm &form);

/// Clones and legalizes the body. The values `arguments` replace the body's
/// arguments. If a value is null, the clone gets an argument of the type in
/// `types`. The condition argument becomes true, because it is true in each
/// step. If `quiet` is true, a failure is not reported.
FailureOr<Draft> draftBody(Node &node, const LoopForm &form,
                           ArrayRef<Type> types, ArrayRef<Value> arguments,
                           bool quiet);

/// Returns the body's condition if it is the same in each step.
std::optional<bool> constantGoesOn(const Draft &draft);

/// Returns the axis along which rows of `rank` of output i are stacked.
FailureOr<int64_t> stackedAxis(Node &node, const Stacked &stacked, size_t i,
                               int64_t rank);

/// Unrolls the loop if the number of steps is static and small, and returns the
/// results. Values that differ from step to step can then be folded. Returns
/// nullopt if the loop is not unrolled.
std::optional<SmallVector<Value>> unroll(Node &node, const LoopForm &form);

/// Finds states that are lists to which steps only append, and turns them into
/// stacked rows. The new rows follow the rows that `form` already has. Returns
/// the lists in order. Changes the body.
SmallVector<GrowingList> stackLists(LoopForm &form);
/// Turns other lists of elements of one shape into states that are tensors of
/// rows. Changes the body.
void carryLists(Node &node, LoopForm &form);
/// Restores the node's results from the loop's results, which do not contain
/// `lists`.
FailureOr<SmallVector<Value>> restoreLists(Node &node, const LoopForm &form,
                                           ArrayRef<GrowingList> lists,
                                           SmallVector<Value> values);

/// Builds an scf.for if the number of steps is known before the first step,
/// else an scf.while.
FailureOr<SmallVector<Value>> buildLoop(Node &node, const LoopForm &form);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CONTROL_LOOPFORM_H
