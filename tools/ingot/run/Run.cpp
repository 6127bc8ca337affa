//===- Run.cpp - ingot run ----------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Execute.h"
#include "client/Handles.h"
#include "client/inputs/Inputs.h"
#include "client/run/OutputSummary.h"
#include "client/run/Outputs.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"

#include <chrono>
#include <new>
#include <stdio.h>

using namespace ingot;
using namespace ingot::tools;

namespace {
struct RunOptions : cli::RunFlags,
                    cli::ThreadsFlags,
                    cli::DeviceFlags,
                    cli::WeightsFlags,
                    cli::JsonFlags {
  std::string model;
  InputSpecs specs;
};
} // namespace

static int runOnce(OptionParser &parser, int argc, char **argv) {
  RunOptions options;
  addInputOptions(parser, options.specs);
  parser.addRun(options);
  parser.addThreads(options);
  addDeviceOption(parser, options);
  parser.addWeights(options);
  parser.addJson(options);
  int exitCode;
  if (!parser.parse(argc, argv, options.model, exitCode))
    return exitCode;

  Console console("run");
  const ingot::Progress progress = console.progress();
  // Load with a pool of the requested size, so that the load step prepares for
  // this number of threads.
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  progress.step("loading", 0);
  std::string problem = createPool(options.threads, pool);
  if (problem.empty())
    problem = loadModel(options.model,
                        {options.weights, options.device, options.verify},
                        pool.get(), model);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  if (!problem.empty())
    return parser.failure(problem);

  std::vector<Array> inputs;
  if (std::string warning =
          preprocessWarning(model.get(), options.specs.preprocess);
      !warning.empty())
    console.warning(warning);
  progress.step("reading inputs", 0.3);
  problem = makeInputs(model.get(), options.specs, inputs);
  if (!problem.empty())
    return parser.failure(problem);

  std::vector<std::string> names = outputNames(model.get());
  std::vector<std::string> files = outputFileNames(names);
  if (!options.outputDirectory.empty())
    problem =
        checkOutputs(options.outputDirectory, files, filesRead(options.specs));
  if (!problem.empty())
    return parser.failure(problem);

  std::vector<Array> outputs;
  ingot_error error = INGOT_ERROR_INIT;
  progress.step("running", 0.4);
  const auto start = std::chrono::steady_clock::now();
  if (runToFit(model.get(), context.get(), inputs, outputs, error))
    return parser.failure(error.message);
  const std::chrono::duration<double, std::milli> taken =
      std::chrono::steady_clock::now() - start;

  progress.step("writing outputs", 0.8);
  OutputSummary summary = summarizeOutputs(names, outputs);
  // After the files are written, nothing may fail for lack of memory. So make
  // the text first.
  std::string text = std::move(summary.table);
  if (options.json) {
    ingot_model_info info = INGOT_MODEL_INFO_INIT;
    ingot_model_describe(model.get(), &info, nullptr);
    for (size_t i = 0; i < files.size(); ++i)
      summary.outputs[i]["file"] =
          options.outputDirectory.empty()
              ? Json()
              : Json(options.outputDirectory + "/" + files[i]);
    text = console.resultText(
        {{"model", options.model},
         {"target", info.target},
         {"threads", ingot_context_thread_count(context.get())},
         {"run_ms", taken.count()},
         {"warnings", summary.warnings},
         {"outputs", std::move(summary.outputs)}});
  }
  // Destroying JSON needs memory, too.
  summary.outputs = nullptr;
  for (const std::string &warning : summary.warnings)
    console.warning(warning);
  if (!options.outputDirectory.empty()) {
    problem = writeOutputs(options.outputDirectory, files, outputs);
    if (!problem.empty())
      return parser.failure(problem);
  }
  console.clear();
  fputs(text.c_str(), stdout);
  fflush(stdout);
  return exitSuccess;
}

int ingot::runMain(int argc, char **argv) {
  OptionParser parser(cli::CommandId::run);
  try {
    return runOnce(parser, argc, argv);
  } catch (const std::bad_alloc &) {
    return parser.failure("the inputs and outputs do not fit into memory");
  }
}
