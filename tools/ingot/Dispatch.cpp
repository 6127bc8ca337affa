//===- Dispatch.cpp - from a command line to a subcommand -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"

#include "ingot/ingot.h"

#include <new>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

namespace {
struct Command {
  const char *name;
  int (*main)(int argc, char **argv);
  const char *help;
};

constexpr Command commands[] = {
#ifdef INGOT_HAS_COMPILER
    {"compile", compileMain, "compile an ONNX model to a shared library"},
    {"calibrate", calibrateMain, "find the ranges that int8 needs, on samples"},
    {"compare", compareMain, "tell what a precision costs, on samples"},
#endif
    {"run", runMain, "run a compiled model on .npy files or random data"},
    {"bench", benchMain, "measure a compiled model, as a whole and by layer"},
    {"inspect", inspectMain, "print what a compiled model is and needs"},
};
} // namespace

static void printUsage(FILE *out) {
  fprintf(out, "Compiles ONNX models ahead of time and runs the result.\n\n"
               "usage: ingot COMMAND [options]\n\ncommands:\n");
  for (const Command &command : commands)
    fprintf(out, "  %-10s %s\n", command.name, command.help);
  fprintf(out, "\n`ingot COMMAND --help` says more; `ingot --version` prints "
               "the version.\n\nexample:\n"
               "  ingot run model.so --input random --output-dir out/\n\n"
               "exit codes: 0 done, 1 failed, 2 wrong use\n");
}

/// Flushes standard output. If it could not be written, the command fails.
static int flushOutput(const char *command, int exitCode) {
  bool written = !fflush(stdout) && !ferror(stdout);
  if (written || exitCode)
    return exitCode;
  fprintf(stderr, "ingot %s: error: cannot write all to standard output\n",
          command);
  return exitFailure;
}

int ingot::dispatch(int argc, char **argv) {
  std::set_new_handler(nullptr);
  // Use a static buffer, so that printing needs no memory.
  static char buffer[1 << 16];
  setvbuf(stdout, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
          sizeof(buffer));
  if (argc < 2) {
    printUsage(stderr);
    return exitUsage;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
    printUsage(stdout);
    return exitSuccess;
  }
  if (!strcmp(argv[1], "--version")) {
    printf("ingot %s\n", ingot_version_get());
    return exitSuccess;
  }
  for (const Command &command : commands)
    if (!strcmp(argv[1], command.name)) {
      endInOneLine(command.name);
      return flushOutput(command.name, command.main(argc - 1, argv + 1));
    }
  std::vector<std::string> names;
  for (const Command &command : commands)
    names.push_back(command.name);
  std::string problem =
      unknownName("command", tools::formatLine(argv[1], 120), names);
  fprintf(stderr, "ingot: error: %s; see: ingot --help\n", problem.c_str());
  return exitUsage;
}
