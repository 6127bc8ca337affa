//===- pipeline.cpp - a compiled model on a GPU ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a model with fixed sizes on a GPU, in three ways that give the same
// results:
//
//  1. Two contexts take turns. While one computes, the other copies.
//  2. Inputs and outputs are in GPU memory, and all work is in one stream of
//     the program.
//  3. An output is a DLPack tensor, which another library can take over.
//
//   c++ -std=c++17 pipeline.cpp $(pkg-config --cflags --libs ingot) -ldl
//   ./a.out model.so          # compiled with --target=cuda
//
//===----------------------------------------------------------------------===//
#include <ingot/ingot.hpp>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <memory>
#include <vector>

namespace {

/// A stream of the program. Programs that use the CUDA Toolkit include cuda.h
/// and call these functions of the driver directly.
class Stream {
public:
  Stream() {
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
      throw std::runtime_error(dlerror());
    call<int (*)(unsigned)>("cuInit")(0);
    void *context;
    if (call<int (*)(void **, int)>("cuDevicePrimaryCtxRetain")(&context, 0) ||
        call<int (*)(void *)>("cuCtxPushCurrent_v2")(context) ||
        call<int (*)(void **, unsigned)>("cuStreamCreate")(&stream, 0))
      throw std::runtime_error("no stream on GPU 0");
  }
  ~Stream() {
    void *context;
    call<int (*)(void *)>("cuStreamDestroy_v2")(stream);
    call<int (*)(void **)>("cuCtxPopCurrent_v2")(&context);
    call<int (*)(int)>("cuDevicePrimaryCtxRelease_v2")(0);
  }
  Stream(const Stream &) = delete;
  void wait() { call<int (*)(void *)>("cuStreamSynchronize")(stream); }
  void *get() const { return stream; }

private:
  template <typename Function>
  Function call(const char *name) const {
    return reinterpret_cast<Function>(dlsym(driver, name));
  }

  void *driver;
  void *stream = nullptr;
};

/// Type, sizes and bytes of a tensor of the model.
struct Form {
  explicit Form(const ingot_tensor_info &info)
      : dtype(info.dtype), dims(info.dims, info.dims + info.rank) {
    bytes = ingot_dtype_bits(dtype);
    for (int64_t dim : dims)
      bytes *= static_cast<uint64_t>(dim);
    bytes = (bytes + 7) / 8;
  }
  ingot_dtype dtype;
  std::vector<int64_t> dims;
  uint64_t bytes;
};

/// Memory for the inputs and outputs of one context.
struct Lane {
  Lane(const ingot::Model &model, ingot_memory kind) : context(model) {
    const ingot_model_info info = model.info();
    for (uint32_t i = 0; i < info.num_inputs; ++i) {
      forms.emplace_back(model.inputInfo(i));
      tensors.emplace_back(model, kind, forms.back().bytes);
      inputs.push_back(
          tensors.back().asInput(forms.back().dtype, forms.back().dims));
    }
    for (uint32_t i = 0; i < info.num_outputs; ++i) {
      forms.emplace_back(model.outputInfo(i));
      tensors.emplace_back(model, kind, forms.back().bytes);
      outputs.push_back(
          tensors.back().asOutput(forms.back().dtype, forms.back().dims));
    }
  }
  const ingot::Memory &output(size_t i) const {
    return tensors[inputs.size() + i];
  }

  ingot::Context context;
  std::vector<Form> forms;
  std::vector<ingot::Memory> tensors;
  std::vector<ingot_input> inputs;
  std::vector<ingot_output> outputs;
};

using Bytes = std::vector<char>;
constexpr int numBatches = 4;

/// Elements of an input. They differ between batches.
Bytes elementsOf(const Form &form, int batch) {
  Bytes bytes(form.bytes);
  if (form.dtype == INGOT_FLOAT)
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      const float value = static_cast<float>((i / 4 + batch) % 17) / 8;
      memcpy(&bytes[i], &value, 4);
    }
  return bytes;
}

/// Two contexts take turns. Their memory is pinned, so that copies need not
/// wait.
std::vector<Bytes> runInTurns(const ingot::Model &model) {
  Lane lanes[] = {{model, INGOT_MEMORY_HOST}, {model, INGOT_MEMORY_HOST}};
  std::vector<Bytes> results(numBatches);
  auto finish = [&](int batch) {
    Lane &lane = lanes[batch % 2];
    lane.context.wait();
    results[batch].resize(lane.output(0).bytes());
    lane.output(0).copyTo(results[batch].data());
  };
  for (int batch = 0; batch < numBatches; ++batch) {
    if (batch >= 2)
      finish(batch - 2);
    Lane &lane = lanes[batch % 2];
    for (size_t i = 0; i < lane.inputs.size(); ++i)
      lane.tensors[i].copyFrom(elementsOf(lane.forms[i], batch).data());
    lane.context.runAsync(lane.inputs, lane.outputs);
  }
  for (int batch = numBatches - 2; batch < numBatches; ++batch)
    finish(batch);
  return results;
}

/// Copies to the GPU, the run, and the copy of the result are work in the
/// program's stream, which the program waits for once.
Bytes runInStream(const ingot::Model &model, int batch) {
  Stream stream;
  Lane lane(model, INGOT_MEMORY_CUDA);
  ingot_run_options options = ingot::Context::runDefaults();
  options.stream = stream.get();
  for (size_t i = 0; i < lane.inputs.size(); ++i)
    lane.tensors[i].copyFrom(elementsOf(lane.forms[i], batch).data(),
                             stream.get());
  lane.context.runAsync(lane.inputs, lane.outputs, options);
  Bytes result(lane.output(0).bytes());
  lane.output(0).copyTo(result.data(), stream.get());
  lane.context.wait();
  stream.wait();
  return result;
}

/// The first output is a DLPack tensor. In Python, a capsule with the pointer
/// and the name "dltensor_versioned" becomes a tensor of PyTorch, which then
/// owns it.
Bytes runToDLPack(const ingot::Model &model, int batch) {
  Lane lane(model, INGOT_MEMORY_CUDA);
  const Form &form = lane.forms[lane.inputs.size()];
  ingot_error error = INGOT_ERROR_INIT;
  ingot_dlpack_managed *tensor = nullptr;
  if (ingot_dlpack_create(
          model.get(), INGOT_MEMORY_CUDA, form.dtype, form.dims.data(),
          static_cast<uint32_t>(form.dims.size()), &tensor, &error) ||
      ingot_dlpack_to_output(tensor, &lane.outputs[0], &error))
    throw ingot::Error(error.status, error.message);
  for (size_t i = 0; i < lane.inputs.size(); ++i)
    lane.tensors[i].copyFrom(elementsOf(lane.forms[i], batch).data());
  lane.context.run(lane.inputs, lane.outputs);
  Bytes result(form.bytes);
  if (ingot_memory_copy(model.get(), INGOT_MEMORY_HOST, result.data(),
                        INGOT_MEMORY_CUDA, tensor->tensor.data, form.bytes,
                        nullptr, &error))
    throw ingot::Error(error.status, error.message);
  tensor->deleter(tensor);
  return result;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s model.so\n", argv[0]);
    return 2;
  }
  try {
    ingot_model_options options = ingot::Model::defaults();
    options.device = "cuda";
    const ingot::Model model = ingot::Model::load(argv[1], options);
    const std::vector<Bytes> results = runInTurns(model);
    for (int batch = 0; batch < numBatches; ++batch)
      if (runInStream(model, batch) != results[batch] ||
          runToDLPack(model, batch) != results[batch]) {
        fprintf(stderr, "batch %d has other results\n", batch);
        return 1;
      }
    printf("%d batches of %zu bytes\n", numBatches, results[0].size());
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
