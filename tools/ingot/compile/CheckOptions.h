//===- CheckOptions.h - the form of a command line --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_CHECKOPTIONS_H
#define INGOT_TOOLS_INGOT_COMPILE_CHECKOPTIONS_H

#include "tools/ingot/compile/CompileFlags.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace ingot::tools {

/// Returns an error message about the form of a command line, or "". The
/// messages are those of `ingot`'s other commands. LLVM's parser has other
/// messages, accepts all options of LLVM's libraries, and takes the last of
/// several values.
std::string checkOptions(const CompileFlags &flags,
                         llvm::ArrayRef<const char *> args);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_CHECKOPTIONS_H
