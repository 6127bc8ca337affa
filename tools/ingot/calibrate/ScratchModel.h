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

/// Says on a terminal how far a command is, and how it fails.
class Progress {
public:
  explicit Progress(const OptionParser &parser);
  void show(const std::string &text) const;
  void clear() const;
  void warn(const std::string &message) const;
  /// Prints what is wrong. Returns the code to end with.
  int fail(const std::string &message) const;

private:
  const OptionParser &parser;
  bool isTerminal;
};

/// A model that is compiled, loaded and run by one command, and then is gone.
class ScratchModel {
public:
  struct Options {
    std::string model;
    std::vector<std::string> shapes, dims;
    unsigned threads = 0;
    PipelineOptions pipeline;
    /// Code of the command's other compilations; may be null.
    ObjectCache *objects = nullptr;
  };

  ScratchModel(const OptionParser &parser, const Progress &progress)
      : parser(parser), progress(progress) {}

  /// Compiles for this machine, and loads. 0, or the code to end with once what
  /// is wrong was printed.
  int prepare(const Options &options);

  /// The artifact, for as long as this lives.
  std::string library() const { return scratch.path() + "/model.so"; }
  /// Bytes of that file.
  uint64_t fileBytes() const;
  /// Names of the tensors that it shows, by number.
  const std::vector<std::string> &observed() const { return names; }
  /// The model's SHA-256, if it was compiled to show tensors.
  const std::string &sha256() const { return modelSha256; }
  /// What it lets a run round, if it was compiled to.
  const std::vector<Switch> &switches() const { return switched; }
  /// Of the model; those of switches and ranges come behind them.
  std::vector<InputSpec> inputs() const;
  unsigned threads() const;
  ingot_model *handle() const { return model.get(); }
  ingot_context *runs() const { return context.get(); }

  /// Runs for what is observed. Returns the status, and in `problem` what is
  /// wrong. Outputs are dropped, unless there is `kept` for them.
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

/// Numbers that the run gets for each tensor of a model with switches.
constexpr size_t kNumbersOfRange = 3;

/// What the inputs of a model take.
std::vector<InputSpec> inputsOf(const ingot_model *model);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_SCRATCHMODEL_H
