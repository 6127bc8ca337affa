//===- OperandTypes.h - checks of operands ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_OPERANDTYPES_H
#define INGOT_COMPILER_IMPORT_OPERANDTYPES_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Checks that each node has exactly the operands that its operator allows. All
/// later code relies on the required operands.
llvm::Error validateOperands(pb::ModelProto &model);

/// Checks the types of all nodes' inputs against their operators' schemas.
/// Skips types that inference could not find.
llvm::Error validateOperandTypes(const pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_OPERANDTYPES_H
