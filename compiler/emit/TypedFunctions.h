//===- TypedFunctions.h - the functions of a C header -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_TYPEDFUNCTIONS_H
#define INGOT_COMPILER_EMIT_TYPEDFUNCTIONS_H

#include "compiler/emit/Emit.h"

#include "llvm/IR/Module.h"

namespace ingot {

/// Adds the functions that `writeHeader` declares. `description` is the
/// artifact's constant ingot_abi_artifact.
void addTypedFunctions(llvm::Module &module, const Manifest &manifest,
                       llvm::GlobalVariable *description);

/// Declares a function of a library that the artifact is linked with.
llvm::Constant *declareHidden(llvm::Module &module, llvm::StringRef name,
                              llvm::Type *result,
                              llvm::ArrayRef<llvm::Type *> params);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_TYPEDFUNCTIONS_H
