//===- ScratchModel.h - an artifact for the time of a command ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_SCRATCHMODEL_H
#define INGOT_TOOLS_INGOT_CALIBRATE_SCRATCHMODEL_H

#include "base/ScratchFolder.h"
#include "compiler/driver/Compiler.h"
#include "tools/ingot/Handles.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/calibrate/Samples.h"

namespace ingot::tools {

/// Shows a command's progress on a terminal, and reports its failure.
class Progress {
public:
  explicit Progress(const OptionParser &parser);
  void show(const std::string &text) const;
  void clear() const;
  void warn(const std::string &message) const;
  /// Prints an error. Returns the exit code.
  int fail(const std::string &message) const;

private:
  const OptionParser &parser;
  bool isTerminal;
};

/// A model that one command compiles, loads, runs and deletes.
class ScratchModel {
public:
  struct Options {
    std::string model;
    std::vector<std::string> shapes, dims;
    unsigned threads = 0;
    PipelineOptions pipeline;
    /// A cache of code shared by the command's compilations; may be null.
    ObjectCache *objects = nullptr;
  };

  ScratchModel(const OptionParser &parser, const Progress &progress)
      : parser(parser), progress(progress) {}

  /// Compiles for this machine, and loads. Returns 0, or the exit code after an
  /// error was printed.
  int prepare(const Options &options);

  /// Returns the path of the artifact, which exists as long as this object.
  std::string library() const { return scratch.path() + "/model.so"; }
  /// Returns the bytes of the artifact.
  uint64_t fileBytes() const;
  /// Returns the names of the tensors that a run shows, by number.
  const std::vector<std::string> &observed() const { return names; }
  /// Returns the model's SHA-256, if it was compiled to show tensors.
  const std::string &sha256() const { return modelSha256; }
  /// Returns the units that a run can round, if the model was compiled for
  /// that.
  const std::vector<Switch> &switches() const { return switched; }
  /// Returns the inputs of the model. Inputs for precision flags and ranges
  /// come behind these.
  std::vector<InputSpec> inputs() const;
  unsigned threads() const;
  ingot_model *handle() const { return model.get(); }
  ingot_context *runs() const { return context.get(); }

  /// Runs with an observer. Returns the status, and an error message in
  /// `problem`. Outputs are dropped if `kept` is null.
  ingot_status run(const std::vector<Array> &inputs, ingot_observe_fn observe,
                   void *user, std::string &problem,
                   std::vector<Array> *kept = nullptr);

private:
  int compile(const Options &options);

  const OptionParser &parser;
  const Progress &progress;
  ScratchFolder scratch;
  std::vector<std::string> names;
  std::vector<Switch> switched;
  std::string modelSha256;
  std::vector<Array> outputs;
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
};

/// The number of values that a run gets for each tensor's range, in a model
/// with run-time precision flags.
constexpr size_t kNumbersOfRange = 3;

/// Returns the types and the shapes of a model's inputs.
std::vector<InputSpec> inputsOf(const ingot_model *model);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_SCRATCHMODEL_H
