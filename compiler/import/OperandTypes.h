//===- OperandTypes.h - what operators take ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_OPERANDTYPES_H
#define INGOT_COMPILER_IMPORT_OPERANDTYPES_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Checks that all nodes have the operands that their operators need, and no
/// more. All that comes later relies on required operands being there.
llvm::Error validateOperands(pb::ModelProto &model);

/// Checks the types of all nodes' inputs, as far as inference knows them,
/// against their operators' schemas.
llvm::Error validateOperandTypes(const pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_OPERANDTYPES_H
