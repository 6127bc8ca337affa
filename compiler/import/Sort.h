//===- Sort.h - nodes in topological order ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_SORT_H
#define INGOT_COMPILER_IMPORT_SORT_H

#include "compiler/import/Model.h"

namespace ingot::importer {

/// Moves each node of the model's graphs and functions behind the nodes that
/// produce its operands. Operands of its subgraphs count, too. Returns true if
/// a node moved. Fails if there is a cycle.
llvm::Expected<bool> sortNodes(pb::ModelProto &model);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SORT_H
