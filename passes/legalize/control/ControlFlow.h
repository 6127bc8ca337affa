//===- ControlFlow.h - helpers for operators with bodies --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CONTROL_CONTROLFLOW_H
#define INGOT_PASSES_LEGALIZE_CONTROL_CONTROLFLOW_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Returns the node's graph of that name, or null.
mlir::Block *findBody(Node &node, StringRef name);

/// Returns the common type of two tensors: sizes that differ are dynamic.
/// Returns null if ranks or element types differ.
RankedTensorType joinTypes(RankedTensorType a, RankedTensorType b);

/// Casts `value` to the static and dynamic sizes of `type`.
Value castSizes(mlir::OpBuilder &builder, mlir::Location loc, Value value,
                Type type);

/// Returns the type of the tensor whose rows are the elements of `list`.
/// Returns null unless `list` has one or more tensors of one type.
RankedTensorType typeOfRows(Value list);
/// Creates the tensor of the rows of `list` in front of `place`, or returns
/// null.
Value rowsOfList(Node &node, Value list, mlir::Operation *place);
/// Creates an empty tensor of type `type`, as for a list without elements, in
/// front of `place`. Returns null if the row sizes are dynamic.
Value noRowsOf(Node &node, RankedTensorType type, mlir::Operation *place);

/// Extracts the only element of a tensor.
Value onlyElement(mlir::OpBuilder &builder, mlir::Location loc, Value tensor);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CONTROL_CONTROLFLOW_H
