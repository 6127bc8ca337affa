//===- FatalErrors.h - what LLVM gives up on --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_FATALERRORS_H
#define INGOT_TOOLS_INGOT_COMPILE_FATALERRORS_H

#include "llvm/Support/ErrorHandling.h"

namespace ingot {

/// While it lives, what LLVM and MLIR give up on, and memory that is not there,
/// ends the process with exit code 1, one line on stderr and no temporary file
/// left. The line is left out where `errorsPrinted` tells that the user knows
/// why by then.
class FatalErrorsInOneLine {
public:
  explicit FatalErrorsInOneLine(const bool &errorsPrinted);
  ~FatalErrorsInOneLine();

private:
  llvm::ScopedFatalErrorHandler handler;
};

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_FATALERRORS_H
