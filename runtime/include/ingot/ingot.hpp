//===- ingot/ingot.hpp - C++ wrapper of the C API ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// C++17 wrapper of ingot.h, header only. Objects own their handles; they can be
// moved but not copied. Failures throw ingot::Error. All rules of ingot.h hold:
// several threads may use a Model at once, but only one a Context. Code without
// exceptions uses ingot.h.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_INGOT_HPP
#define INGOT_INGOT_HPP

#include "ingot/ingot.h"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace ingot {

/// An error with a one-line message and the status of the C API.
class Error : public std::runtime_error {
public:
  Error(ingot_status status, const char *message)
      : std::runtime_error(message), code(status) {}
  ingot_status status() const noexcept { return code; }

private:
  ingot_status code;
};

namespace detail {
struct Release {
  void operator()(ingot_pool *pool) const { ingot_pool_release(pool); }
  void operator()(ingot_model *model) const { ingot_model_release(model); }
  void operator()(ingot_context *context) const {
    ingot_context_release(context);
  }
  void operator()(ingot_profile *profile) const {
    ingot_profile_release(profile);
  }
  void operator()(ingot_cancellation *cancellation) const {
    ingot_cancellation_release(cancellation);
  }
};

/// Calls function(arguments..., &error) and throws if it fails.
template <typename Function, typename... Arguments>
void call(Function function, Arguments... arguments) {
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_status status = function(arguments..., &error))
    throw Error(status, error.message);
}

/// Maps a C++ type to an element type. The types float16, bfloat16, 8-bit
/// floats and packed types have no C++ type.
template <ingot_dtype Value>
using DTypeConstant = std::integral_constant<ingot_dtype, Value>;
template <typename T> struct DType;
#define INGOT_CPP_TYPE(NAME, TYPE)                                             \
  template <> struct DType<TYPE> : DTypeConstant<INGOT_##NAME> {};
#define INGOT_CPP_FLOAT(NAME, TYPE) INGOT_CPP_TYPE(NAME, TYPE)
#define INGOT_CPP_SIGNED(NAME, TYPE) INGOT_CPP_TYPE(NAME, TYPE)
#define INGOT_CPP_UNSIGNED(NAME, TYPE) INGOT_CPP_TYPE(NAME, TYPE)
#define INGOT_CPP_BOOL(NAME, TYPE) INGOT_CPP_TYPE(NAME, bool)
#define INGOT_CPP_HALF(NAME, TYPE)
#define INGOT_CPP_BRAIN(NAME, TYPE)
#define INGOT_CPP_TINY(NAME, TYPE)
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  INGOT_CPP_##KIND(NAME, C_TYPE)
#include "ingot/abi/element_types.inc"
#undef INGOT_CPP_TYPE
#undef INGOT_CPP_FLOAT
#undef INGOT_CPP_SIGNED
#undef INGOT_CPP_UNSIGNED
#undef INGOT_CPP_BOOL
#undef INGOT_CPP_HALF
#undef INGOT_CPP_BRAIN
#undef INGOT_CPP_TINY
} // namespace detail

/// A dense tensor that owns its elements.
template <typename T> struct Tensor {
  static_assert(
      !std::is_same_v<T, bool>,
      "std::vector packs bool; give input() or output() a bool array");
  std::vector<int64_t> dims;
  std::vector<T> data;

  Tensor() = default;
  /// Makes a tensor of zeros.
  explicit Tensor(std::vector<int64_t> sizes) : dims(std::move(sizes)) {
    size_t count = 1;
    for (int64_t size : dims)
      count *= static_cast<size_t>(size);
    data.resize(count);
  }
};

/// A dense tensor of strings that owns its strings.
struct Strings {
  std::vector<int64_t> dims;
  std::vector<int64_t> offsets; ///< one more than there are strings
  std::string text;
  /// Bytes of text that an output has or would need.
  uint64_t textUsed = 0;

  /// Makes room for the strings of these sizes, with `textBytes` bytes in
  /// total.
  explicit Strings(std::vector<int64_t> sizes, size_t textBytes = 0)
      : dims(std::move(sizes)), text(textBytes, '\0') {
    size_t count = 1;
    for (int64_t size : dims)
      count *= static_cast<size_t>(size);
    offsets.resize(count + 1);
  }
  /// Copies `strings`, which must be as many as the sizes say.
  Strings(std::vector<int64_t> sizes,
          const std::vector<std::string_view> &strings)
      : dims(std::move(sizes)), offsets{0} {
    for (std::string_view string : strings) {
      text += string;
      offsets.push_back(static_cast<int64_t>(text.size()));
    }
  }
  size_t size() const { return offsets.size() - 1; }
  std::string_view operator[](size_t i) const {
    return std::string_view(text).substr(
        static_cast<size_t>(offsets[i]),
        static_cast<size_t>(offsets[i + 1] - offsets[i]));
  }
};

/// Views of tensors and plain memory for Context::run. Views own nothing: the
/// memory and `dims` must outlive the run.
template <typename T>
ingot_input input(const T *data, size_t count, const std::vector<int64_t> &dims,
                  const char *name = nullptr) {
  ingot_input made = ingot_input_make(data, count * sizeof(T), dims.data(),
                                      static_cast<uint32_t>(dims.size()),
                                      detail::DType<T>::value);
  made.name = name;
  return made;
}
template <typename T>
ingot_input input(const Tensor<T> &tensor, const char *name = nullptr) {
  return input(tensor.data.data(), tensor.data.size(), tensor.dims, name);
}
template <typename T>
ingot_output output(T *data, size_t count, std::vector<int64_t> &dims,
                    const char *name = nullptr) {
  ingot_output made = ingot_output_make(data, count * sizeof(T), dims.data(),
                                        static_cast<uint32_t>(dims.size()),
                                        detail::DType<T>::value);
  made.name = name;
  return made;
}
template <typename T>
ingot_output output(Tensor<T> &tensor, const char *name = nullptr) {
  return output(tensor.data.data(), tensor.data.size(), tensor.dims, name);
}

inline ingot_input input(const Strings &tensor, const char *name = nullptr) {
  ingot_input made = ingot_input_strings(
      tensor.offsets.data(), tensor.size(), tensor.text.data(),
      tensor.text.size(), tensor.dims.data(),
      static_cast<uint32_t>(tensor.dims.size()));
  made.name = name;
  return made;
}
inline ingot_output output(Strings &tensor, const char *name = nullptr) {
  ingot_output made = ingot_output_strings(
      tensor.offsets.data(), tensor.size(), tensor.text.data(),
      tensor.text.size(), &tensor.textUsed, tensor.dims.data(),
      static_cast<uint32_t>(tensor.dims.size()));
  made.name = name;
  return made;
}

/// A set of worker threads that contexts may share.
class Pool {
public:
  /// Creates a pool. With 0, the pool has a thread per CPU that the process may
  /// use.
  explicit Pool(uint32_t threads = 0) {
    ingot_pool_options options = INGOT_POOL_OPTIONS_INIT;
    options.num_threads = threads;
    ingot_pool *pool = nullptr;
    detail::call(ingot_pool_create, &options, &pool);
    handle.reset(pool);
  }
  uint32_t threadCount() const { return ingot_pool_thread_count(get()); }
  ingot_pool *get() const { return handle.get(); }

private:
  std::unique_ptr<ingot_pool, detail::Release> handle;
};

/// A loaded model: immutable, for any number of contexts in any thread.
class Model {
public:
  static Model load(const std::string &path,
                    const ingot_model_options &options = defaults()) {
    ingot_model *model = nullptr;
    detail::call(ingot_model_load, path.c_str(), &options, &model);
    return Model(model);
  }
  /// Loads a model from the bytes of a file, which are copied.
  static Model loadMemory(const void *bytes, size_t size,
                          const ingot_model_options &options = defaults()) {
    ingot_model *model = nullptr;
    detail::call(ingot_model_load_memory, bytes, uint64_t(size), &options,
                 &model);
    return Model(model);
  }
  /// Attaches an artifact that is linked into the program.
  static Model attach(const ingot_abi_artifact *artifact,
                      const ingot_model_options &options = defaults()) {
    ingot_model *model = nullptr;
    detail::call(ingot_model_attach, artifact, &options, &model);
    return Model(model);
  }
  static ingot_model_options defaults() { return INGOT_MODEL_OPTIONS_INIT; }

  ingot_model_info info() const {
    ingot_model_info info = INGOT_MODEL_INFO_INIT;
    detail::call(ingot_model_describe, get(), &info);
    return info;
  }
  ingot_variant_info variantInfo(uint32_t index) const {
    ingot_variant_info info = INGOT_VARIANT_INFO_INIT;
    detail::call(ingot_model_variant_describe, get(), index, &info);
    return info;
  }
  ingot_use_info useInfo(uint32_t index) const {
    ingot_use_info info = INGOT_USE_INFO_INIT;
    detail::call(ingot_model_use_describe, get(), index, &info);
    return info;
  }
  ingot_tensor_info inputInfo(uint32_t index) const {
    ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
    detail::call(ingot_model_input_describe, get(), index, &info);
    return info;
  }
  ingot_tensor_info outputInfo(uint32_t index) const {
    ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
    detail::call(ingot_model_output_describe, get(), index, &info);
    return info;
  }
  ingot_layer_info layerInfo(uint32_t index) const {
    ingot_layer_info info = INGOT_LAYER_INFO_INIT;
    detail::call(ingot_model_layer_describe, get(), index, &info);
    return info;
  }
  /// Returns the sizes of a shape profile: a row for each dimension that it
  /// bounds. `index` is less than info().num_shape_profiles.
  std::vector<ingot_size_range_info> shapeProfile(uint32_t index) const {
    ingot_shape_profile_info info = INGOT_SHAPE_PROFILE_INFO_INIT;
    detail::call(ingot_model_shape_profile_describe, get(), index, &info);
    std::vector<ingot_size_range_info> ranges(info.num_ranges,
                                              INGOT_SIZE_RANGE_INFO_INIT);
    for (uint32_t i = 0; i < info.num_ranges; ++i)
      detail::call(ingot_model_size_range_describe, get(), index, i,
                   &ranges[i]);
    return ranges;
  }
  /// Sizes of outputs and memory of a run at given sizes; see
  /// ingot_model_infer.
  struct Inferred {
    std::vector<std::vector<int64_t>> outputs;
    uint64_t arenaBytes = 0; ///< UINT64_MAX if they depend on data
  };
  /// Infers the results of a run. `inputs` has the sizes of each input, in the
  /// model's order.
  Inferred infer(const std::vector<std::vector<int64_t>> &inputs) const {
    Inferred inferred;
    std::vector<const int64_t *> given;
    std::vector<uint32_t> givenRanks, toldRanks;
    for (const std::vector<int64_t> &dims : inputs) {
      given.push_back(dims.data());
      givenRanks.push_back(uint32_t(dims.size()));
    }
    std::vector<int64_t *> told;
    for (uint32_t i = 0; i < info().num_outputs; ++i)
      inferred.outputs.emplace_back(outputInfo(i).rank);
    for (std::vector<int64_t> &dims : inferred.outputs) {
      told.push_back(dims.data());
      toldRanks.push_back(uint32_t(dims.size()));
    }
    detail::call(ingot_model_infer, get(), given.data(), givenRanks.data(),
                 uint32_t(given.size()), told.data(), toldRanks.data(),
                 uint32_t(told.size()), &inferred.arenaBytes);
    return inferred;
  }
  /// Returns the names of a layer's ONNX nodes.
  std::vector<std::string> layerNodes(uint32_t index) const {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < layerInfo(index).num_nodes; ++i)
      names.push_back(ingot_model_layer_node(get(), index, i));
    return names;
  }
  /// Returns the value of `key`, or null.
  const char *metadata(const char *key) const {
    return ingot_model_metadata_find(get(), key);
  }
  ingot_model *get() const { return handle.get(); }

private:
  explicit Model(ingot_model *model) : handle(model) {}
  std::unique_ptr<ingot_model, detail::Release> handle;
};

/// Memory for inputs and outputs of a model; see ingot_memory_allocate. The
/// model must outlive the memory.
class Memory {
public:
  /// Allocates memory on the model's GPU (INGOT_MEMORY_CUDA) or on the host.
  Memory(const Model &model, ingot_memory kind, uint64_t bytes)
      : model(model.get()), memory(kind), size(bytes),
        device(kind == INGOT_MEMORY_CUDA ? model.info().device : 0) {
    detail::call(ingot_memory_allocate, this->model, kind, bytes, &pointer);
  }
  Memory(Memory &&other) noexcept
      : model(other.model), memory(other.memory),
        pointer(std::exchange(other.pointer, nullptr)), size(other.size),
        device(other.device) {}
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  ~Memory() { ingot_memory_release(model, memory, pointer); }

  /// Copies all bytes from memory of the host, or to it. With a stream, the
  /// copy is only put into the queue.
  void copyFrom(const void *from, void *stream = nullptr) {
    detail::call(ingot_memory_copy, model, memory, pointer,
                 ingot_memory(INGOT_MEMORY_HOST), from, size, stream);
  }
  void copyTo(void *to, void *stream = nullptr) const {
    detail::call(ingot_memory_copy, model, ingot_memory(INGOT_MEMORY_HOST), to,
                 memory, static_cast<const void *>(pointer), size, stream);
  }

  /// Makes an input or an output of the elements in this memory.
  ingot_input asInput(ingot_dtype dtype, const std::vector<int64_t> &dims,
                      const char *name = nullptr) const {
    ingot_input made = ingot_input_make(
        pointer, size, dims.data(), static_cast<uint32_t>(dims.size()), dtype);
    made.memory = memory;
    made.device = device;
    made.name = name;
    return made;
  }
  ingot_output asOutput(ingot_dtype dtype, std::vector<int64_t> &dims,
                        const char *name = nullptr) const {
    ingot_output made = ingot_output_make(
        pointer, size, dims.data(), static_cast<uint32_t>(dims.size()), dtype);
    made.memory = memory;
    made.device = device;
    made.name = name;
    return made;
  }

  void *data() const { return pointer; }
  uint64_t bytes() const { return size; }

private:
  ingot_model *model;
  ingot_memory memory;
  void *pointer = nullptr;
  uint64_t size;
  uint32_t device;
};

/// Lets runs end early: see ingot_cancellation.
class Cancellation {
public:
  Cancellation() {
    ingot_cancellation *cancellation = nullptr;
    detail::call(ingot_cancellation_create, &cancellation);
    handle.reset(cancellation);
  }
  void request() { ingot_cancellation_request(get()); }
  ingot_cancellation *get() const { return handle.get(); }

private:
  std::unique_ptr<ingot_cancellation, detail::Release> handle;
};

/// Times of the layers of a model. Keeps the model alive.
class Profile {
public:
  explicit Profile(const Model &model) {
    ingot_profile *profile = nullptr;
    const ingot_profile_options options = INGOT_PROFILE_OPTIONS_INIT;
    detail::call(ingot_profile_create, model.get(), &options, &profile);
    handle.reset(profile);
  }
  void reset() { detail::call(ingot_profile_reset, get()); }
  ingot_profile_times runTimes() const {
    ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
    detail::call(ingot_profile_run_get, get(), &times);
    return times;
  }
  ingot_profile_times layerTimes(uint32_t layer) const {
    ingot_profile_times times = INGOT_PROFILE_TIMES_INIT;
    detail::call(ingot_profile_layer_get, get(), layer, &times);
    return times;
  }
  ingot_profile *get() const { return handle.get(); }

private:
  std::unique_ptr<ingot_profile, detail::Release> handle;
};

/// Scratch memory and threads for one run at a time. Keeps its model alive.
class Context {
public:
  explicit Context(const Model &model,
                   const ingot_context_options &options = defaults()) {
    ingot_context *context = nullptr;
    detail::call(ingot_context_create, model.get(), &options, &context);
    handle.reset(context);
  }
  static ingot_context_options defaults() { return INGOT_CONTEXT_OPTIONS_INIT; }
  static ingot_run_options runDefaults() { return INGOT_RUN_OPTIONS_INIT; }

  /// Runs once; throws on any failure.
  void run(const std::vector<ingot_input> &inputs,
           const std::vector<ingot_output> &outputs,
           const ingot_run_options &options = runDefaults()) {
    detail::call(ingot_context_run, get(), inputs.data(),
                 static_cast<uint32_t>(inputs.size()), outputs.data(),
                 static_cast<uint32_t>(outputs.size()), &options);
  }
  /// Runs once. Returns false if an output is too small; its dims and
  /// `textUsed` then say the required size. Throws on other failures.
  bool tryRun(const std::vector<ingot_input> &inputs,
              const std::vector<ingot_output> &outputs,
              const ingot_run_options &options = runDefaults()) {
    ingot_error error = INGOT_ERROR_INIT;
    ingot_status status = ingot_context_run(
        get(), inputs.data(), static_cast<uint32_t>(inputs.size()),
        outputs.data(), static_cast<uint32_t>(outputs.size()), &options,
        &error);
    if (status == INGOT_BUFFER_TOO_SMALL)
      return false;
    if (status)
      throw Error(status, error.message);
    return true;
  }
  /// Starts a run, which wait() ends; see ingot_context_run_async.
  void runAsync(const std::vector<ingot_input> &inputs,
                const std::vector<ingot_output> &outputs,
                const ingot_run_options &options = runDefaults()) {
    detail::call(ingot_context_run_async, get(), inputs.data(),
                 static_cast<uint32_t>(inputs.size()), outputs.data(),
                 static_cast<uint32_t>(outputs.size()), &options);
  }
  /// Waits for the run that runAsync() has started. Throws if it failed.
  void wait() { detail::call(ingot_context_wait, get()); }
  uint32_t threadCount() const { return ingot_context_thread_count(get()); }

  void trim() { ingot_context_trim(get()); }
  ingot_context *get() const { return handle.get(); }

private:
  std::unique_ptr<ingot_context, detail::Release> handle;
};

} // namespace ingot

#endif // INGOT_INGOT_HPP
