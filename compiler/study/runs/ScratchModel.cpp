//===- ScratchModel.cpp - an artifact for the time of a study -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/ScratchModel.h"

#include "base/FreeMemory.h"
#include "base/SystemFailures.h"
#include "client/Execute.h"
#include "compiler/driver/DecisionTrace.h"
#include "compiler/driver/Messages.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"

using namespace ingot;
using namespace ingot::study;

llvm::Error ScratchModel::compile(const Options &options,
                                  const Progress &progress) {
  std::unique_ptr<mlir::MLIRContext> mlirContext = ingot::createContext();
  CompileOptions compile;
  compile.input = options.model;
  compile.output = library();
  compile.writeHeader = false;
  compile.pipeline = options.pipeline;
  compile.objects = options.objects;
  compile.decisions = options.decisions;
  if (options.decisions)
    readRemarks(*mlirContext, *options.decisions, nullptr);
  compile.import.shapes = options.sizes.shapes;
  compile.import.dims = options.sizes.dims;
  compile.progress.onStep = [&](const std::string &step, double fraction) {
    nameStep(step.c_str());
    progress.step(step, fraction);
  };
  compile.progress.isCancelled = progress.isCancelled;
  std::vector<Message> errors;
  llvm::StringMap<std::string> operators;
  compile.operators = &operators;
  mlirContext->getDiagEngine().registerHandler(
      [&](mlir::Diagnostic &diagnostic) {
        Message message = toMessage(diagnostic, options.model, operators);
        if (message.severity == Severity::error)
          errors.push_back(std::move(message));
        else
          progress.message(message);
        return mlir::success();
      });
  mlir::FailureOr<CompileResult> compiled = compileModel(compile, *mlirContext);
  if (llvm::Error error = checkCancelled(progress))
    return error;
  if (failed(compiled))
    return errors.empty() ? makeError("the model cannot be compiled")
                          : llvm::make_error<StudyError>(std::move(errors));
  names = compiled->manifest->observed;
  switched = compiled->manifest->precisionFlags;
  modelSha256 = compiled->modelSha256;
  return llvm::Error::success();
}

llvm::Error ScratchModel::prepare(const Options &options,
                                  const Progress &progress) {
  if (llvm::Error error = checkCancelled(progress))
    return error;
  if (llvm::Error error = errorIf(scratch.create()))
    return error;
  if (llvm::Error error = compile(options, progress))
    return error;
  // Return the compiler's memory to the system, because runs do not need it.
  returnFreeMemory();
  requestedThreads = options.threads;
  if (llvm::Error error = load())
    return error;
  specs = inputsOf(model.get());
  for (const ingot_tensor_info &info : tools::outputInfosOf(model.get()))
    outputs.push_back({info.dtype,
                       std::vector<int64_t>(info.dims, info.dims + info.rank),
                       std::vector<unsigned char>(info.bytes),
                       {}});
  return llvm::Error::success();
}

llvm::Error ScratchModel::load() {
  if (context)
    return llvm::Error::success();
  // Results count here, not times, so idle threads need not spin.
  std::string problem = tools::createPool(requestedThreads, pool, /*spinUs=*/1);
  if (problem.empty())
    problem = tools::loadModel(library(), {"", "cpu"}, pool.get(), model);
  if (problem.empty())
    problem = tools::createContext(model.get(), pool.get(), context);
  return errorIf(std::move(problem));
}

void ScratchModel::unload() {
  context.reset();
  model.reset();
  pool.reset();
}

llvm::Error ScratchModel::runOnce(const std::vector<Array> &inputs,
                                  std::vector<Array> &outputs) const {
  ingot_error error = INGOT_ERROR_INIT;
  if (tools::runToFit(model.get(), context.get(), inputs, outputs, error) !=
      INGOT_OK)
    return makeError(error.message);
  return llvm::Error::success();
}

std::vector<InputSpec> ingot::study::inputsOf(const ingot_model *model) {
  std::vector<InputSpec> inputs;
  for (const ingot_tensor_info &info : tools::inputInfosOf(model))
    inputs.push_back({info.name, info.dtype,
                      std::vector<int64_t>(info.dims, info.dims + info.rank)});
  return inputs;
}

std::vector<InputSpec> ScratchModel::inputs() const {
  std::vector<InputSpec> all = specs;
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
        tools::runToFit(model.get(), context.get(), inputs, *kept, error, &run);
    problem = status == INGOT_OK ? "" : error.message;
    return status;
  }
  std::vector<ingot_input> in = tools::inputViews(inputs);
  std::vector<ingot_output> out = tools::outputViews(outputs);
  ingot_status status =
      ingot_context_run(context.get(), in.data(), uint32_t(in.size()),
                        out.data(), uint32_t(out.size()), &run, &error);
  // Outputs are not needed here. An output whose size is known only after the
  // run has no room, but the run completes.
  if (status == INGOT_BUFFER_TOO_SMALL)
    status = INGOT_OK;
  problem = status == INGOT_OK ? "" : error.message;
  return status;
}

llvm::Expected<std::vector<tools::Layer>>
ScratchModel::layersOfRun(const std::vector<Array> &inputs) {
  tools::ProfileHandle profile;
  if (llvm::Error error = errorIf(tools::createProfile(model.get(), profile)))
    return std::move(error);
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
  run.profile = profile.get();
  std::vector<Array> kept;
  ingot_error error = INGOT_ERROR_INIT;
  if (tools::runToFit(model.get(), context.get(), inputs, kept, error, &run))
    return makeError(error.message);
  std::vector<tools::Layer> layers = tools::layersOf(model.get());
  for (tools::Layer &layer : layers) {
    ingot_profile_times taken = INGOT_PROFILE_TIMES_INIT;
    ingot_profile_layer_get(profile.get(), layer.number, &taken, nullptr);
    layer.flops = taken.flops;
    layer.bytes = taken.bytes;
  }
  return layers;
}
