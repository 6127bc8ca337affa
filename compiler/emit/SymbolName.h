//===- SymbolName.h - what a model's C functions are called -----*- C++ -*-===//
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

/// Whether a header with the type `symbol` and the functions `symbol_create`,
/// `symbol_run` and `symbol_destroy` would not compile, or the functions would
/// stand in the place of others: words of C and C++, what their and POSIX's
/// headers define, and names of Ingot's own.
bool isTakenSymbol(llvm::StringRef symbol);

/// A C identifier from a file's name which is not taken; `model_` goes before
/// one that would be.
std::string symbolForFile(llvm::StringRef fileName);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_SYMBOLNAME_H
