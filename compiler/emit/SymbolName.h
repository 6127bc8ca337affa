//===- SymbolName.h - names of a model's C functions ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_SYMBOLNAME_H
#define INGOT_COMPILER_EMIT_SYMBOLNAME_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Returns true if `symbol` cannot be the name of a model's type and the prefix
/// of its functions `symbol_create`, `symbol_run` and `symbol_destroy`. Such
/// names are keywords of C and C++, names in headers of C, C++ and POSIX, and
/// names of Ingot. The header would not compile, or the functions would replace
/// others.
bool isTakenSymbol(llvm::StringRef symbol);

/// Returns a C identifier for a file's name. Adds the prefix `model_` if the
/// name is taken.
std::string symbolForFile(llvm::StringRef fileName);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SYMBOLNAME_H
