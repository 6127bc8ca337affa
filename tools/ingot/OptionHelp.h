//===- OptionHelp.h - help about options ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_OPTIONHELP_H
#define INGOT_TOOLS_INGOT_OPTIONHELP_H

#include "base/OptionTable.h"

#include <string>

namespace ingot::tools {

/// Prints a line for each usual option.
void printUsualOptions(cli::CommandId command);

/// Prints all options in groups, with details.
void printAllOptions(cli::CommandId command);

/// Runs `ingot help [TOPIC]`. A topic is a group of options, a command or an
/// option. Returns the exit code.
int helpMain(int argc, char **argv);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_OPTIONHELP_H
