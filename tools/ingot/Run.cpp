//===- Run.cpp - ingot run ----------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Execute.h"
#include "client/Handles.h"
#include "client/Text.h"
#include "client/Values.h"
#include "client/inputs/Inputs.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/InputOptions.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Outputs.h"

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

/// The summary of the outputs as text or JSON. It is made before the outputs
/// are written, because it needs memory.
struct Summary {
  std::string table;
  std::vector<std::string> warnings;
  Json outputs = Json::array();
};
} // namespace

/// Returns the first elements of an output.
static Json valuesOf(const Array &array, const Statistics &statistics) {
  Json values = Json::array();
  if (array.dtype == INGOT_STRING)
    for (uint64_t i = 0; i < elementCount(array) && i < kMostFirst; ++i)
      values.push_back(std::string(stringAt(array, i)));
  for (double value : statistics.firstNumbers)
    values.push_back(toNumber(value));
  return values;
}

static Summary summarizeOutputs(const std::vector<std::string> &names,
                                const std::vector<Array> &outputs) {
  std::vector<std::vector<std::string>> rows = {
      {"output", "type", "shape", "min", "max", "mean", "first values"}};
  Summary summary;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array &array = outputs[i];
    Statistics statistics = summarize(array);
    std::string name = formatLine(names[i], 60);
    summary.outputs.push_back({{"name", names[i]},
                               {"dtype", ingot_dtype_name(array.dtype)},
                               {"shape", array.dims},
                               {"min", toNumber(statistics.leastNumber)},
                               {"max", toNumber(statistics.largestNumber)},
                               {"mean", toNumber(statistics.meanNumber)},
                               {"not_numbers", statistics.notNumbers},
                               {"elements", elementCount(array)},
                               {"first_values", valuesOf(array, statistics)}});
    rows.push_back({name, ingot_dtype_name(array.dtype),
                    formatShape(array.dims.data(), array.dims.size()),
                    statistics.least, statistics.largest, statistics.mean,
                    statistics.first});
    if (statistics.notNumbers)
      summary.warnings.push_back("output '" + name + "' has " +
                                 std::to_string(statistics.notNumbers) +
                                 " elements that are infinite or not a number");
  }
  summary.table = formatTable(rows);
  return summary;
}

static int runOnce(OptionParser &parser, int argc, char **argv) {
  RunOptions options;
  addInputOptions(parser, options.specs);
  parser.addRun(options);
  parser.addThreads(options);
  parser.addDevice(options);
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
  Summary summary = summarizeOutputs(names, outputs);
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
