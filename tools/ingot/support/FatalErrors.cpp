//===- FatalErrors.cpp - what LLVM gives up on ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/support/FatalErrors.h"

#include "base/SystemFailures.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <new>

using namespace llvm;
using namespace ingot;

[[noreturn]] static void endAsFailed(StringRef why) {
  SmallString<256> text("the compiler itself failed (");
  text += why.take_front(180);
  text += "); please report it with the model";
  endBecause(text.c_str());
}

/// Replaces the C library's handler of failed assertions. The C library's
/// prints several lines and leaves temporary files.
extern "C" void __assert_fail(const char *assertion, const char *file,
                              unsigned line, const char *) noexcept {
  SmallString<256> text;
  raw_svector_ostream(text)
      << sys::path::filename(file) << ":" << line << ": " << assertion;
  endAsFailed(text);
}

static void endBecauseOfLLVM(void *, const char *reason, bool) {
  StringRef line = StringRef(reason).trim().split('\n').first.rtrim(".:");
  // Lack of memory has its own message.
  if (line.contains_insensitive("out of memory") ||
      line.contains_insensitive("allocation failed") ||
      line.contains_insensitive("unable to allocate"))
    endOutOfMemory();
  // A full disk is not an error of the compiler, either.
  if (line.consume_front("IO failure on output stream: ")) {
    SmallString<256> text("cannot write a file: ");
    text += line.take_front(180);
    endBecause(text.c_str());
  }
  endAsFailed(line);
}

static void endWithoutMemoryForLLVM(void *, const char *, bool) {
  endOutOfMemory();
}

/// Installs the handlers before constructors of LLVM's libraries run, because
/// these constructors allocate memory. Without handlers, a failure would end
/// the process with a message of LLVM or C++. This function runs from an early
/// section, so it must not use constructed objects. `main` removes the second
/// handler for commands that can continue without memory.
static void handleFromTheStart(int argc, char **argv, char **) {
  nameCommand(argc > 1 ? argv[1] : "");
  readJsonFlag(argc, argv);
  install_bad_alloc_error_handler(endWithoutMemoryForLLVM);
  std::set_new_handler([] { endOutOfMemory(); });
}

[[gnu::section(".preinit_array"),
  gnu::used]] static void (*const atStart)(int, char **,
                                           char **) = handleFromTheStart;

FatalErrorsInOneLine::FatalErrorsInOneLine(const bool &errorsPrinted)
    : handler(endBecauseOfLLVM, nullptr) {
  endInOneLine("compile");
  endWithoutMemory();
  setReported(&errorsPrinted);
}

FatalErrorsInOneLine::~FatalErrorsInOneLine() { setReported(nullptr); }
