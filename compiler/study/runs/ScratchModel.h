//===- ScratchModel.h - an artifact for the time of a study -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_SCRATCHMODEL_H
#define INGOT_COMPILER_STUDY_RUNS_SCRATCHMODEL_H

#include "base/ScratchFolder.h"
#include "client/Layers.h"
#include "compiler/driver/Compiler.h"
#include "compiler/study/runs/Client.h"
#include "compiler/study/runs/Errors.h"

namespace ingot::study {

/// Sizes of a model's inputs.
struct InputSizes {
  /// Shapes of inputs, by name; -1 keeps a dimension dynamic.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Sizes of symbolic dimensions, by name.
  llvm::StringMap<int64_t> dims;
};

/// A model that a study compiles, loads, runs and deletes.
class ScratchModel {
public:
  struct Options {
    std::string model;
    InputSizes sizes;
    unsigned threads = 0;
    PipelineOptions pipeline;
    /// A cache of code shared by the study's compilations; may be null.
    ObjectCache *objects = nullptr;
    /// Receives the decisions of the compilation; may be null.
    DecisionTrace *decisions = nullptr;
  };

  /// Compiles the model for this machine and loads it.
  llvm::Error prepare(const Options &options, const Progress &progress);

  /// Unloads the artifact, because its weights would take memory while another
  /// model is compiled. Names, inputs and the file remain.
  void unload();
  /// Loads the artifact again after `unload`; otherwise does nothing.
  llvm::Error load();

  /// Returns the path of the artifact, which exists as long as this object.
  std::string library() const { return scratch.path() + "/model.so"; }
  /// Returns the bytes of the artifact.
  uint64_t fileBytes() const;
  /// Returns the names of the tensors that a run shows, by index.
  const std::vector<std::string> &observed() const { return names; }
  /// Returns the model's SHA-256, if it was compiled to show tensors.
  const std::string &sha256() const { return modelSha256; }
  /// Returns the units that a run can round. Empty unless the model was
  /// compiled with precision flags.
  const std::vector<PrecisionFlag> &precisionFlags() const { return switched; }
  /// Returns the inputs of the model. The inputs for precision flags and ranges
  /// follow them.
  std::vector<InputSpec> inputs() const;
  unsigned threads() const;
  ingot_model *handle() const { return model.get(); }
  ingot_context *runs() const { return context.get(); }

  /// Runs once, with enough room for the outputs. The error does not name the
  /// sample.
  llvm::Error runOnce(const std::vector<Array> &inputs,
                      std::vector<Array> &outputs) const;

  /// Runs with an observer. Returns the status, and an error message in
  /// `problem`. If `kept` is null, drops the outputs.
  ingot_status run(const std::vector<Array> &inputs, ingot_observe_fn observe,
                   void *user, std::string &problem,
                   std::vector<Array> *kept = nullptr);

  /// Runs once. Returns the layers with the arithmetic and the bytes of this
  /// run, which depend on its sizes.
  llvm::Expected<std::vector<tools::Layer>>
  layersOfRun(const std::vector<Array> &inputs);

private:
  llvm::Error compile(const Options &options, const Progress &progress);

  ScratchFolder scratch;
  std::vector<std::string> names;
  std::vector<PrecisionFlag> switched;
  std::string modelSha256;
  std::vector<InputSpec> specs;
  unsigned requestedThreads = 0;
  std::vector<Array> outputs;
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
};

/// The number of values that describe the range of a tensor, in the inputs of a
/// model with precision flags.
constexpr size_t kNumbersOfRange = 3;

/// Returns the types and the shapes of a model's inputs.
std::vector<InputSpec> inputsOf(const ingot_model *model);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_SCRATCHMODEL_H
