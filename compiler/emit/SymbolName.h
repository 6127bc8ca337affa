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

/// Returns true if `symbol` cannot name a model in C. It would be the name of a
/// type and the prefix of functions, e.g. `symbol_create` and `symbol_run`.
/// Keywords of C and C++, names in headers of C, C++ and POSIX, and names of
/// Ingot are taken. With a taken name the header would not compile, or the
/// functions would replace others.
bool isTakenSymbol(llvm::StringRef symbol);

/// Returns a C identifier for a file's name. Adds the prefix `model_` if the
/// name is taken.
std::string symbolForFile(llvm::StringRef fileName);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SYMBOLNAME_H
