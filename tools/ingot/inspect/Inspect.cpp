//===- Inspect.cpp - ingot inspect --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inspect/Inspection.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"

#include <stdio.h>

using namespace ingot::tools;

int ingot::inspectMain(int argc, char **argv) {
  OptionParser parser(cli::CommandId::inspect);
  InspectOptions options;
  cli::InspectFlags flags;
  cli::JsonFlags output;
  parser.addInspect(flags);
  addShapeOptions(parser, options.sizes);
  parser.addJson(output);
  int exitCode;
  if (!parser.parse(argc, argv, options.model, exitCode))
    return exitCode;
  options.weights = flags.weights;
  options.verify = flags.verify;

  Inspection inspection;
  if (std::string problem = inspectModel(options, inspection); !problem.empty())
    return parser.failure(problem);
  if (const std::string &key = flags.metadata; !key.empty()) {
    const char *value =
        ingot_model_metadata_find(inspection.model.get(), key.c_str());
    if (!value)
      return parser.failure("'" + options.model + "' has no metadata '" + key +
                            "'");
    fputs(value, stdout);
  } else if (output.json) {
    Console("inspect").result(toJson(inspection));
  } else {
    fputs(textOf(inspection, flags.layers).c_str(), stdout);
  }
  return exitSuccess;
}
