//===- ScratchModel.cpp - an artifact for the time of a command -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/ScratchModel.h"

#include "base/SystemFailures.h"
#include "tools/ingot/Execute.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/compile/Messages.h"
#include "tools/ingot/compile/ShapeOption.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

#include <malloc.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(const OptionParser &parser)
    : parser(parser), isTerminal(isatty(STDERR_FILENO)) {}

void Progress::show(const std::string &text) const {
  if (isTerminal)
    fprintf(stderr, "\r\033[K%s …", formatLine(text, 200).c_str());
}

void Progress::clear() const {
  if (isTerminal)
    fputs("\r\033[K", stderr);
}

void Progress::warn(const std::string &message) const {
  clear();
  fprintf(stderr, "ingot %s: warning: %s\n", parser.name().c_str(),
          formatLine(message, 2000).c_str());
}

int Progress::fail(const std::string &message) const {
  clear();
  return parser.failure(message);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

int ScratchModel::compile(const Options &options) {
  CompileOptions compile;
  compile.input = options.model;
  compile.output = library();
  compile.writeHeader = false;
  compile.pipeline = options.pipeline;
  compile.objects = options.objects;
  std::string error;
  ShapeProfile ranges;
  for (const std::string &text : options.shapes)
    if (!parseShape(text, compile.import, ranges, error))
      return parser.usageError(error);
  for (const std::string &text : options.dims)
    if (!parseDim(text, compile.import, ranges, error))
      return parser.usageError(error);
  if (!ranges.empty())
    return parser.usageError("ranges of sizes are for ingot compile: leave a "
                             "dimension open here, or fix it");
  compile.progress = [this](StringRef step) {
    nameStep(step.str().c_str());
    progress.show(step.str());
  };
  std::unique_ptr<mlir::MLIRContext> mlirContext = ingot::createContext();
  mlirContext->getDiagEngine().registerHandler(
      [&](mlir::Diagnostic &diagnostic) {
        progress.clear();
        printDiagnostic(diagnostic, options.model, parser.name().c_str());
        return mlir::success();
      });
  mlir::FailureOr<CompileResult> compiled = compileModel(compile, *mlirContext);
  progress.clear();
  if (failed(compiled))
    return exitFailure;
  names = compiled->manifest->observed;
  switched = compiled->manifest->switches;
  modelSha256 = compiled->modelSha256;
  return exitSuccess;
}

int ScratchModel::prepare(const Options &options) {
  std::string problem = scratch.create();
  if (!problem.empty())
    return progress.fail(problem);
  if (int code = compile(options))
    return code;
  // Give the compiler's memory back, which runs do not need.
  malloc_trim(0);
  problem = createPool(options.threads, pool);
  if (problem.empty())
    problem = loadModel(library(), "", pool.get(), model);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  if (!problem.empty())
    return progress.fail(problem);
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  outputs.resize(info.num_outputs);
  for (uint32_t i = 0; i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model.get(), i, &tensor, nullptr);
    outputs[i].dtype = tensor.dtype;
    outputs[i].dims.assign(tensor.dims, tensor.dims + tensor.rank);
    outputs[i].data.resize(tensor.bytes);
  }
  return exitSuccess;
}

std::vector<InputSpec> ingot::tools::inputsOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<InputSpec> inputs;
  for (uint32_t i = 0; i < info.num_inputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model, i, &tensor, nullptr);
    inputs.push_back(
        {tensor.name, tensor.dtype,
         std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank)});
  }
  return inputs;
}

std::vector<InputSpec> ScratchModel::inputs() const {
  std::vector<InputSpec> all = inputsOf(model.get());
  if (!switched.empty())
    all.resize(all.size() - switched.size() - kNumbersOfRange * names.size());
  return all;
}

uint64_t ScratchModel::fileBytes() const {
  uint64_t bytes = 0;
  return llvm::sys::fs::file_size(library(), bytes) ? 0 : bytes;
}

unsigned ScratchModel::threads() const {
  return ingot_context_thread_count(context.get());
}

ingot_status ScratchModel::run(const std::vector<Array> &inputs,
                               ingot_observe_fn observe, void *user,
                               std::string &problem, std::vector<Array> *kept) {
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
  run.observe = observe;
  run.observe_user = user;
  ingot_error error = INGOT_ERROR_INIT;
  if (kept) {
    ingot_status status =
        runToFit(model.get(), context.get(), inputs, *kept, error, &run);
    problem = status == INGOT_OK ? "" : error.message;
    return status;
  }
  std::vector<ingot_input> in = inputViews(inputs);
  std::vector<ingot_output> out = outputViews(outputs);
  ingot_status status =
      ingot_context_run(context.get(), in.data(), uint32_t(in.size()),
                        out.data(), uint32_t(out.size()), &run, &error);
  // Outputs are not wanted. If the size of an output is only known after the
  // run, it has no room, but the run completes.
  if (status == INGOT_BUFFER_TOO_SMALL)
    status = INGOT_OK;
  problem = status == INGOT_OK ? "" : error.message;
  return status;
}
