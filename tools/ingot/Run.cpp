//===- Run.cpp - ingot run ----------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Commands.h"
#include "tools/ingot/Execute.h"
#include "tools/ingot/Handles.h"
#include "tools/ingot/inputs/Inputs.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Outputs.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/Values.h"

#include <new>
#include <stdio.h>

using namespace ingot::tools;

namespace {
struct RunOptions {
  std::string model, outputDirectory, weights;
  InputSpecs specs;
  unsigned threads = 0;
  bool verify = false;
};
} // namespace

namespace {
/// The text that is printed about outputs. It is made before they are written,
/// since it needs memory.
struct Summary {
  std::string table, warnings;
};
} // namespace

static Summary summarizeOutputs(const std::vector<std::string> &names,
                                const std::vector<Array> &outputs) {
  std::vector<std::vector<std::string>> rows = {
      {"output", "type", "shape", "min", "max", "mean", "first values"}};
  Summary summary;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array &array = outputs[i];
    Statistics statistics = summarize(array);
    std::string name = formatLine(names[i], 60);
    rows.push_back({name, ingot_dtype_name(array.dtype),
                    formatShape(array.dims.data(), array.dims.size()),
                    statistics.least, statistics.largest, statistics.mean,
                    statistics.first});
    if (statistics.notNumbers)
      summary.warnings += "ingot run: warning: output '" + name + "' has " +
                          std::to_string(statistics.notNumbers) +
                          " elements that are infinite or not a number\n";
  }
  summary.table = formatTable(rows);
  return summary;
}

static int runOnce(OptionParser &parser, int argc, char **argv) {
  RunOptions options;
  addInputOptions(parser, options.specs);
  parser.value("output-dir", "DIR", options.outputDirectory,
               "write each output to DIR/<output name>.npy");
  parser.number("threads", "N", options.threads, 1, 1024,
                "threads to use (default: the CPUs this process may use)");
  parser.value("weights", "FILE", options.weights,
               "separate weights (default: MODEL.so.HASH.weights)");
  parser.flag("verify", options.verify,
              "compare the weights with their checksum before");
  int exitCode;
  if (!parser.parse(argc, argv, options.model, exitCode))
    return exitCode;

  // Load with the pool of the wanted size, so that loading prepares for that
  // many threads.
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  std::string problem = createPool(options.threads, pool);
  if (problem.empty())
    problem = loadModel(options.model, options.weights, pool.get(), model,
                        options.verify);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  if (!problem.empty())
    return parser.failure(problem);

  std::vector<Array> inputs;
  if (std::string warning =
          preprocessWarning(model.get(), options.specs.preprocess);
      !warning.empty())
    fprintf(stderr, "ingot run: warning: %s\n", warning.c_str());
  problem = makeInputs(model.get(), options.specs, inputs);
  if (!problem.empty())
    return parser.failure(problem);

  std::vector<std::string> names = outputNames(model.get());
  std::vector<std::string> files = outputFileNames(names);
  if (!options.outputDirectory.empty())
    problem = checkOutputs(options.outputDirectory, files,
                           filesRead(options.specs));
  if (!problem.empty())
    return parser.failure(problem);

  std::vector<Array> outputs;
  ingot_error error = INGOT_ERROR_INIT;
  if (runToFit(model.get(), context.get(), inputs, outputs, error))
    return parser.failure(error.message);

  Summary summary = summarizeOutputs(names, outputs);
  if (!options.outputDirectory.empty()) {
    problem = writeOutputs(options.outputDirectory, files, outputs);
    if (!problem.empty())
      return parser.failure(problem);
  }
  fputs(summary.table.c_str(), stdout);
  fflush(stdout);
  fputs(summary.warnings.c_str(), stderr);
  return exitSuccess;
}

int ingot::runMain(int argc, char **argv) {
  OptionParser parser(
      "run", "MODEL.so [options]",
      "Runs a compiled model once and prints a table of its outputs.",
      "ingot run repvgg_a0.so --input picture.jpg --output-dir out/");
  try {
    return runOnce(parser, argc, argv);
  } catch (const std::bad_alloc &) {
    return parser.failure("the inputs and outputs do not fit into memory");
  }
}
