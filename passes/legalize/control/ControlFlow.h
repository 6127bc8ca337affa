//===- ControlFlow.h - operators with bodies -*- C++ -*- -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CONTROL_CONTROLFLOW_H
#define INGOT_PASSES_LEGALIZE_CONTROL_CONTROLFLOW_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// The node's graph of that name, or null.
mlir::Block *findBody(Node &node, StringRef name);

/// What both types are: sizes that differ are open. Null if the ranks or the
/// element types differ.
RankedTensorType joinTypes(RankedTensorType a, RankedTensorType b);

/// `value` with as many known sizes as `type` has.
Value castSizes(mlir::OpBuilder &builder, mlir::Location loc, Value value,
                Type type);

/// The type of the tensor of which a list has the rows; null for what is no
/// list of one or more tensors of one type.
RankedTensorType typeOfRows(Value list);
/// That tensor, in front of `place`; or null.
Value rowsOfList(Node &node, Value list, mlir::Operation *place);
/// No rows of such a tensor, in front of `place`; null if only the run knows
/// their sizes.
Value noRowsOf(Node &node, RankedTensorType type, mlir::Operation *place);

/// The one element of a tensor, as a number of its type.
Value onlyElement(mlir::OpBuilder &builder, mlir::Location loc, Value tensor);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CONTROL_CONTROLFLOW_H
