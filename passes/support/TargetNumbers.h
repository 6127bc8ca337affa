//===- TargetNumbers.h - numbers in options of passes -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_TARGETNUMBERS_H
#define INGOT_PASSES_SUPPORT_TARGETNUMBERS_H

#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// Parses `texts` such as `l2=2M`. Emits an error at `module` if a text is
/// invalid.
mlir::FailureOr<TargetNumbers>
parseTargetNumbers(mlir::ModuleOp module, llvm::ArrayRef<std::string> texts);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_TARGETNUMBERS_H
