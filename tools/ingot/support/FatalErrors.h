//===- FatalErrors.h - what LLVM gives up on --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_SUPPORT_FATALERRORS_H
#define INGOT_TOOLS_INGOT_SUPPORT_FATALERRORS_H

#include "llvm/Support/ErrorHandling.h"

namespace ingot {

/// During its lifetime, handles fatal errors of LLVM and MLIR, and lack of
/// memory. An error ends the process with exit code 1 and one line on stderr,
/// and leaves no temporary file. The line is omitted if `errorsPrinted` is
/// true, because the user then knows the reason.
class FatalErrorsInOneLine {
public:
  explicit FatalErrorsInOneLine(const bool &errorsPrinted);
  ~FatalErrorsInOneLine();

private:
  llvm::ScopedFatalErrorHandler handler;
};

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_SUPPORT_FATALERRORS_H
