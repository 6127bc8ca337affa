//===- Dispatch.cpp - from a command line to a subcommand -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"
#include "client/Text.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/OptionHelp.h"
#include "tools/ingot/Options.h"

#include "ingot/ingot.h"

#include <new>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;

namespace {
struct Command {
  cli::CommandId id;
  int (*main)(int argc, char **argv);

  const char *name() const { return cli::commandOf(id).name; }
};

constexpr Command commands[] = {
#ifdef INGOT_HAS_COMPILER
    {cli::CommandId::compile, compileMain},
    {cli::CommandId::calibrate, calibrateMain},
    {cli::CommandId::compare, compareMain},
#endif
    {cli::CommandId::run, runMain},
    {cli::CommandId::bench, benchMain},
    {cli::CommandId::inspect, inspectMain},
};
} // namespace

static void printUsage(FILE *out) {
  fprintf(out, "Compiles ONNX models ahead of time and runs the result.\n\n"
               "usage: ingot COMMAND [options]\n\ncommands:\n");
  for (const Command &command : commands)
    fprintf(out, "  %-10s %s\n", command.name(),
            cli::commandOf(command.id).summary);
  fprintf(out, "\n`ingot COMMAND --help` prints the usual options of a "
               "command, --help-all prints all.\n`ingot help TOPIC` explains "
               "a topic, `ingot help` lists the topics.\n`ingot --version` "
               "prints the version.\n\nexample:\n"
               "  ingot run model.so --input random --output-dir out/\n\n"
               "exit codes: 0 done, 1 failed, 2 wrong use\n");
}

/// Flushes standard output. If this fails, the command fails, too.
static int flushOutput(const char *command, int exitCode) {
  bool written = !fflush(stdout) && !ferror(stdout);
  if (written || exitCode == exitFailure || exitCode == exitUsage)
    return exitCode;
  return Console(command).failure("cannot write all to standard output");
}

int ingot::dispatch(int argc, char **argv) {
  std::set_new_handler(nullptr);
  // Use a static buffer, so that printing needs no memory.
  static char buffer[1 << 16];
  setvbuf(stdout, buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF,
          sizeof(buffer));
  readJsonFlag(argc, argv);
  if (argc < 2) {
    printUsage(stderr);
    return exitUsage;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
    printUsage(stdout);
    return flushOutput("", exitSuccess);
  }
  if (!strcmp(argv[1], "--version")) {
    printf("ingot %s\n", ingot_version_get());
    return flushOutput("", exitSuccess);
  }
  if (!strcmp(argv[1], "help"))
    return flushOutput("help", helpMain(argc - 1, argv + 1));
  for (const Command &command : commands)
    if (!strcmp(argv[1], command.name())) {
      endInOneLine(command.name());
      return flushOutput(command.name(), command.main(argc - 1, argv + 1));
    }
  std::vector<std::string> names;
  for (const Command &command : commands)
    names.push_back(command.name());
  return Console("").usageError(
      unknownName("command", tools::formatLine(argv[1], 120), names));
}
