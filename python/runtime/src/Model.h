//===- Model.h - models and their runs ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PYTHON_MODEL_H
#define INGOT_PYTHON_MODEL_H

#include <mutex>
#include <string>
#include <vector>

#include "Tensors.h"

namespace ingot::python {

/// A request to end runs.
class Cancellation {
public:
  Cancellation();
  ~Cancellation() { ingot_cancellation_release(cancellation); }
  Cancellation(const Cancellation &) = delete;

  void request() { ingot_cancellation_request(cancellation); }
  const ingot_cancellation *get() const { return cancellation; }

private:
  ingot_cancellation *cancellation = nullptr;
};

/// Threads that several contexts share.
class Pool {
public:
  Pool(uint32_t threads, uint32_t spinMicroseconds);
  ~Pool() { ingot_pool_release(pool); }
  Pool(const Pool &) = delete;

  uint32_t threads() const { return ingot_pool_thread_count(pool); }
  ingot_pool *get() const { return pool; }

private:
  ingot_pool *pool = nullptr;
};

/// How to load a model, as ingot_model_options.
struct LoadOptions {
  uint32_t flags = 0;
  const char *weights = nullptr;
  const char *maxLevel = nullptr;
  const char *device = nullptr;
};

class Model;

/// Times of the layers of a model.
class Profile {
public:
  explicit Profile(Model &model);
  ~Profile() { ingot_profile_release(profile); }
  Profile(const Profile &) = delete;

  void reset();
  /// Returns (runs, total, min, max, last) of whole runs; times are in
  /// nanoseconds.
  nb::tuple run() const;
  /// Returns the same numbers of a layer.
  nb::tuple layer(uint32_t index) const;
  ingot_profile *get() const { return profile; }

private:
  ingot_profile *profile = nullptr;
};

/// A loaded model, and its contexts that are not running. Thread-safe.
class Model {
public:
  Model(const char *path, nb::handle bytes, const LoadOptions &options);
  ~Model();
  Model(const Model &) = delete;

  /// Describes the model for the Python class: see `_core.pyi`.
  nb::tuple describeInputs() const;
  nb::tuple describeOutputs() const;
  nb::dict describe() const;
  nb::dict metadata() const;
  nb::tuple layers() const;
  nb::tuple variants() const;
  nb::tuple ranges() const;

  /// Computes the sizes of outputs and the memory of a context.
  nb::tuple infer(nb::handle inputDims) const;

  /// Arrays and settings of a run. Arrays are in the order of the model.
  struct Request {
    nb::handle inputs;  ///< a tuple
    nb::handle outputs; ///< a tuple of arrays or None, or None
    bool raw = false;   ///< the Python class has converted the arrays
    ingot_context *context = nullptr; ///< null: a context of the free list
    uint32_t threads = 0; ///< for a context of the free list; 0: all
    const Cancellation *cancellation = nullptr;
    Profile *profile = nullptr;
  };
  /// Returns an object for each output. Raises an exception if the run fails.
  std::vector<nb::object> run(const Request &request);

  /// Returns the addresses of the elements that a run would read and write, as
  /// (inputs, outputs). Outputs without an array have the address 0.
  nb::tuple addresses(nb::tuple inputArrays, nb::object outputArrays,
                      bool raw) const;

  /// Takes the values of a dictionary in the order of the inputs or outputs.
  /// Returns a null object if it has other keys, or none for an input. An
  /// output without a key is None.
  nb::object takeInputs(nb::handle dict) const;
  nb::object takeOutputs(nb::handle dict) const;
  /// Returns a dictionary of outputs by name.
  nb::object nameOutputs(const std::vector<nb::object> &values) const;

  bool isPlain() const { return plain; }
  ingot_model *get() const { return model; }

private:
  friend class Run;

  /// A context for one run: that of the request, or one of the free list.
  struct Lease {
    Lease(Model &model, const Request &request);
    ~Lease();
    Lease(const Lease &) = delete;

    Model &model;
    const uint32_t threads;
    const bool isOfCaller; ///< the context is that of the request
    ingot_context *context;
  };
  bool mayHaveSteps(const ingot_model_info &info) const;
  std::vector<ingot_context *> &freeContexts(uint32_t threads);

  ingot_model *model = nullptr;
  std::vector<TensorSpec> inputs, outputs;
  std::vector<nb::object> inputNames, outputNames; ///< texts of Python
  bool plain = true;        ///< all tensors have types of numpy
  bool fixedOutputs = true; ///< no output has an open size
  bool canEndEarly = true;  ///< a run may end before it is done
  bool isOnGpu = false;     ///< runs use the model's code for GPUs
  uint32_t gpuNumber = 0;   ///< number of the GPU that runs use

  struct Free {
    uint32_t threads;
    std::vector<ingot_context *> contexts;
  };
  std::mutex mutex; ///< of `free`; locked only by threads that have the GIL
  std::vector<Free> free;
};

/// A context of the caller, with threads of its own choice.
class Context {
public:
  Context(Model &model, uint32_t threads, Pool *pool);
  ~Context() { ingot_context_release(context); }
  Context(const Context &) = delete;

  uint32_t threads() const { return ingot_context_thread_count(context); }
  void trim() { ingot_context_trim(context); }
  ingot_context *get() const { return context; }

private:
  ingot_context *context = nullptr;
};

} // namespace ingot::python

#endif // INGOT_PYTHON_MODEL_H
