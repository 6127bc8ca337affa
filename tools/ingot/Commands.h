//===- Commands.h - the subcommands -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMMANDS_H
#define INGOT_TOOLS_INGOT_COMMANDS_H

namespace ingot {

/// Runs the `ingot` program: finds the subcommand that argv[1] names and runs
/// it. Returns the exit code. May be called once in a process.
int dispatch(int argc, char **argv);

// Each function gets the name of its subcommand as argv[0] and returns an exit
// code.
int runMain(int argc, char **argv);
int benchMain(int argc, char **argv);
int inspectMain(int argc, char **argv);
// Only available in builds with the compiler.
int compileMain(int argc, char **argv);
int calibrateMain(int argc, char **argv);
int compareMain(int argc, char **argv);

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMMANDS_H
