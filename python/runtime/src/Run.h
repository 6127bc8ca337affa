//===- Run.h - one run of a model -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PYTHON_RUN_H
#define INGOT_PYTHON_RUN_H

#include <optional>

#include "Model.h"

namespace ingot::python {

/// Arrays that hold an input.
struct InputArrays {
  ImportedArray array, text;
  std::vector<int64_t> dims; ///< of packed types and strings
};

/// An output: an array of the caller, or new memory.
struct OutputArrays {
  nb::object given; ///< the caller's array; null: new memory
  ImportedArray array;
  OutputMemory memory, text;
  std::vector<int64_t> dims;
  uint64_t textUsed = 0;

  uint64_t room() const {
    return given.is_valid() ? array.bytes : memory.size();
  }
};

/// The tensors of one run.
class Tensors {
public:
  Tensors(const std::vector<TensorSpec> &inputSpecs,
          const std::vector<TensorSpec> &outputSpecs, bool raw)
      : inputSpecs(inputSpecs), outputSpecs(outputSpecs), raw(raw) {}

  void readInputs(nb::tuple given);
  void readOutputs(nb::handle given);
  /// Computes the sizes of outputs as far as the sizes of inputs tell them.
  void inferOutputs(const ingot_model *model);
  void allocateOutputs();
  /// Returns true if an input or an array of the caller is in GPU memory.
  bool useGpu() const;
  /// Lets outputs that numpy need not hold be in memory of this GPU.
  void returnOnGpu(Gpu memory) { gpu = std::move(memory); }
  /// Allocates more after a run that reported the sizes. Returns false if an
  /// array of the caller is too small.
  bool enlargeOutputs();
  /// Returns an object for each output.
  std::vector<nb::object> takeOutputs();

  /// Updates `out` for a run.
  void viewOutputs();

  std::vector<ingot_input> in;
  std::vector<ingot_output> out;

private:
  void readParts(size_t index, nb::handle parts, ingot_input &input);
  /// Raises an exception if an array of the caller has other sizes than the
  /// output.
  void checkGiven(const TensorSpec &spec, const OutputArrays &output) const;
  nb::object take(const TensorSpec &spec, OutputArrays &output);
  /// Allocates memory of an output where the run shall write it.
  void allocate(size_t index, uint64_t bytes);

  const std::vector<TensorSpec> &inputSpecs, &outputSpecs;
  bool raw;
  std::vector<InputArrays> inputs;
  std::vector<OutputArrays> outputs;
  Gpu gpu = {}; ///< without a model if outputs are in memory of the host
};

/// A run, from the arrays of the caller to those of the results. All members
/// but `execute` need the GIL.
class Run {
public:
  /// Imports the arrays, allocates outputs and takes a context. Raises an
  /// exception for wrong arrays.
  Run(Model &model, const Model::Request &request);
  Run(const Run &) = delete;

  /// Runs the model's code once. A run that `canBeInterrupted` ends when SIGINT
  /// arrives.
  void execute(bool canBeInterrupted = false);
  /// Returns true if the code must run again: `execute` has reported sizes of
  /// outputs, which have more memory now.
  bool mustRepeat();
  /// Returns an object for each output, or raises the error of the run.
  std::vector<nb::object> take();

  ingot_status state() const { return status; }

private:
  Tensors tensors;
  ingot_run_options options = INGOT_RUN_OPTIONS_INIT;
  std::optional<Model::Lease> lease;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status = INGOT_OK;
  size_t attempts; ///< how often the code may still run
};

} // namespace ingot::python

#endif // INGOT_PYTHON_RUN_H
