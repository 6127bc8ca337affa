//===- FatalErrors.cpp - what LLVM gives up on ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/FatalErrors.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;

void ingot::FatalErrorsInOneLine::end(void *errorsPrinted, const char *reason,
                                      bool) {
  if (!*static_cast<const bool *>(errorsPrinted))
    errs() << "ingot compile: error: the compiler itself failed ("
           << StringRef(reason).trim().split('\n').first.rtrim(".:")
           << "); please report it with the model\n";
  sys::RunInterruptHandlers();
  _exit(1);
}
