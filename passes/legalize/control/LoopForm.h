//===- LoopForm.h - what Loop and Scan have in common  ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CONTROL_LOOPFORM_H
#define INGOT_PASSES_LEGALIZE_CONTROL_LOOPFORM_H

#include "passes/legalize/control/ControlFlow.h"

namespace ingot::legalize {

/// What a step sees a slice of.
struct Scanned {
  Value value;
  int64_t axis = 0;
  bool isReversed = false;
};

/// How the rows that steps give are put together.
struct Stacked {
  int64_t axis = 0;
  bool isReversed = false;
  /// The output of the node that they are.
  size_t output = 0;
  /// Rows in front of those.
  SmallVector<Value> start;
};

/// A Loop or a Scan. The body's arguments are, for a Loop, the step's number
/// and the condition, then states and slices; its results the condition, for a
/// Loop, then states and rows.
struct LoopForm {
  mlir::Block *body = nullptr;
  bool isLoop = false;
  /// Of type index; null for a loop that only its condition ends.
  Value trip;
  /// Whether it takes a first step, i1; null if it does.
  Value go;
  SmallVector<Value> init;
  SmallVector<Scanned> scanned;
  SmallVector<Stacked> stacked;
  /// States that are the rows of sequences.
  SmallVector<size_t> lists;
};

/// A list that the steps of a loop only append to.
struct GrowingList {
  /// The state that it was.
  size_t state = 0;
  /// The rows that are in front of those that steps append; null if they are
  /// listed.
  Value before;
};

/// A body with arguments of certain types, legalized in front of the node.
struct Draft {
  onnx::NodeOp op;
  mlir::Block *body = nullptr;
  /// Whether another step follows, as the body says; null for a Scan.
  Value goesOn;
  SmallVector<Value> states, rows;
};

/// One row of a scanned value: of known or open sizes, but along the axis.
RankedTensorType typeOfRow(const Scanned &scanned);
/// The type that the argument for a step's number has.
RankedTensorType typeOfNumber(Node &node, const LoopForm &form);

/// Clones the body, with `arguments` for its own, or with arguments of `types`
/// where those are null, and legalizes it. Fails if that does; quietly, unless
/// that is false. The condition is what it is in each step: true.
FailureOr<Draft> draftBody(Node &node, const LoopForm &form,
                           ArrayRef<Type> types, ArrayRef<Value> arguments,
                           bool quiet);

/// What the body says about another step, if it says the same in each.
std::optional<bool> constantGoesOn(const Draft &draft);

/// The axis along which rows of `rank`, those of output i, are put together.
FailureOr<int64_t> stackedAxis(Node &node, const Stacked &stacked, size_t i,
                               int64_t rank);

/// Does every step in a row, where their number is known and small: then all
/// that differs from step to step is folded. Nothing if it is not.
std::optional<SmallVector<Value>> unroll(Node &node, const LoopForm &form);

/// Lists that each step only appends a value to are no states any more, but
/// rows behind those that `form` has. Gives those lists, in order. Changes the
/// body.
SmallVector<GrowingList> stackLists(LoopForm &form);
/// Other lists of elements of one shape are states of another kind: the tensors
/// of which they are the rows. Changes the body.
void carryLists(Node &node, LoopForm &form);
/// What the node gives, of what the loop gives without `lists`.
FailureOr<SmallVector<Value>> restoreLists(Node &node, const LoopForm &form,
                                           ArrayRef<GrowingList> lists,
                                           SmallVector<Value> values);

/// An scf.for if the number of steps is known before the first, else an
/// scf.while.
FailureOr<SmallVector<Value>> buildLoop(Node &node, const LoopForm &form);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CONTROL_LOOPFORM_H
