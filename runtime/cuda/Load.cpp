//===- Load.cpp - loads and unloads a model -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace ingot::cuda;

namespace {

/// A load in progress.
struct Loader {
  State &state;
  const ingot_abi_load &call;
  Message message;
  int level = 0;

  int32_t load();
  int32_t openDevice();
  int32_t loadModule();
  int32_t findFunctions();
  int32_t copyWeights();

  int32_t check(Result result, const char *name, const char *place = "") {
    return state.check(result, name, message, place);
  }
};

} // namespace

/// Opens the device and retains its primary context.
int32_t Loader::openDevice() {
  Driver &driver = state.driver;
  int count = 0;
  if (int32_t status =
          check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount"))
    return status;
  if (count == 0)
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "there is no CUDA device");
  if (call.device >= uint32_t(count))
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "there is no CUDA device %u: this machine has %d",
                        call.device, count);
  int major = 0, minor = 0;
  if (int32_t status = check(
          driver.cuDeviceGet(&state.device, int(call.device)), "cuDeviceGet"))
    return status;
  if (int32_t status = check(driver.cuDeviceGetAttribute(
                                 &major, computeCapabilityMajor, state.device),
                             "cuDeviceGetAttribute"))
    return status;
  if (int32_t status = check(driver.cuDeviceGetAttribute(
                                 &minor, computeCapabilityMinor, state.device),
                             "cuDeviceGetAttribute"))
    return status;
  level = 10 * major + minor;
  return check(driver.cuDevicePrimaryCtxRetain(&state.context, state.device),
               "cuDevicePrimaryCtxRetain");
}

/// Returns true if a device of `level` runs the image.
static bool fits(const ingot_cuda_image &image, int level) {
  if (image.kind == INGOT_CUDA_PTX)
    return int(image.level) <= level;
  return image.kind == INGOT_CUDA_CUBIN && int(image.level) <= level &&
         int(image.level) / 10 == level / 10;
}

/// Returns the best image behind `after` in the order of preference: cubins of
/// the highest level first, then PTX. `after` is null at first.
static const ingot_cuda_image *nextImage(const ingot_cuda_program &program,
                                         int level,
                                         const ingot_cuda_image *after) {
  auto rank = [](const ingot_cuda_image &image) {
    return int(image.level) + (image.kind == INGOT_CUDA_CUBIN ? 1000 : 0);
  };
  const ingot_cuda_image *best = nullptr;
  for (uint32_t i = 0; i < program.num_images; ++i) {
    const ingot_cuda_image &image = program.images[i];
    if (fits(image, level) && (!after || rank(image) < rank(*after)) &&
        (!best || rank(image) > rank(*best)))
      best = &image;
  }
  return best;
}

/// Loads the first image that the driver accepts.
int32_t Loader::loadModule() {
  const ingot_cuda_program &program = *state.program;
  Result result = success;
  const ingot_cuda_image *image = nextImage(program, level, nullptr);
  if (!image) {
    char levels[96] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < program.num_images && used < sizeof(levels); ++i) {
      // PTX and a cubin may be for one level.
      bool isRepeated = false;
      for (uint32_t j = 0; j < i; ++j)
        isRepeated |= program.images[j].level == program.images[i].level;
      if (!isRepeated)
        used += size_t(snprintf(levels + used, sizeof(levels) - used, "%ssm_%u",
                                i ? ", " : "", program.images[i].level));
    }
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "CUDA device %u is sm_%d, but the model has code for "
                        "%s",
                        call.device, level, levels);
  }
  for (; image; image = nextImage(program, level, image)) {
    result = state.driver.cuModuleLoadData(&state.module, image->data);
    if (!result)
      return INGOT_ABI_OK;
    state.module = nullptr;
  }
  // The model's code for CPUs, if there is any, can take the place of code that
  // this driver does not know.
  if (result == noBinaryForGpu || result == unsupportedPtxVersion)
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "cuModuleLoadData failed: %s; a newer driver may load "
                        "the model's code",
                        state.driver.nameOf(result));
  return check(result, "cuModuleLoadData");
}

int32_t Loader::findFunctions() {
  const ingot_cuda_program &program = *state.program;
  Driver &driver = state.driver;
  state.functions = static_cast<Function *>(
      calloc(program.num_kernels ? program.num_kernels : 1, sizeof(Function)));
  if (!state.functions)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory for kernels");
  for (uint32_t i = 0; i < program.num_kernels; ++i) {
    const ingot_cuda_kernel &kernel = program.kernels[i];
    char place[160];
    snprintf(place, sizeof(place), " for kernel '%s'", kernel.name);
    if (kernel.num_parameters > INGOT_CUDA_MAX_PARAMETERS)
      return message.fail(INGOT_ABI_BAD_ARTIFACT,
                          "too many parameters%s: %u, but at most %u", place,
                          kernel.num_parameters, INGOT_CUDA_MAX_PARAMETERS);
    if (int32_t status =
            check(driver.cuModuleGetFunction(&state.functions[i], state.module,
                                             kernel.name),
                  "cuModuleGetFunction", place))
      return status;
    if (kernel.shared_bytes <= 48u << 10)
      continue;
    if (int32_t status =
            check(driver.cuFuncSetAttribute(state.functions[i],
                                            functionMaxDynamicSharedBytes,
                                            int(kernel.shared_bytes)),
                  "cuFuncSetAttribute", place))
      return status;
  }
  return INGOT_ABI_OK;
}

/// Copies the weights that kernels read to the device.
int32_t Loader::copyWeights() {
  const ingot_cuda_program &program = *state.program;
  Driver &driver = state.driver;
  if (program.weights_offset > call.weights_bytes ||
      program.weights_bytes > call.weights_bytes - program.weights_offset)
    return message.fail(INGOT_ABI_BAD_ARTIFACT,
                        "the weights of the kernels are not in the file");
  size_t available = 0, total = 0;
  if (int32_t status =
          check(driver.cuMemGetInfo_v2(&available, &total), "cuMemGetInfo_v2"))
    return status;
  if (program.weights_bytes > available ||
      program.arena_bytes > available - program.weights_bytes)
    return message.fail(
        INGOT_ABI_OUT_OF_MEMORY,
        "the model needs %llu bytes for weights and %llu for a run, but CUDA "
        "device %u has %llu of %llu free",
        static_cast<unsigned long long>(program.weights_bytes),
        static_cast<unsigned long long>(program.arena_bytes), call.device,
        static_cast<unsigned long long>(available),
        static_cast<unsigned long long>(total));
  if (!program.weights_bytes)
    return INGOT_ABI_OK;
  if (int32_t status =
          check(driver.cuMemAlloc_v2(&state.weights, program.weights_bytes),
                "cuMemAlloc_v2", " for the weights"))
    return status;
  Stream stream;
  if (int32_t status = check(driver.cuStreamCreate(&stream, streamNonBlocking),
                             "cuStreamCreate"))
    return status;
  const char *from =
      static_cast<const char *>(call.weights) + program.weights_offset;
  int32_t status =
      check(driver.cuMemcpyHtoDAsync_v2(state.weights, from,
                                        program.weights_bytes, stream),
            "cuMemcpyHtoDAsync_v2", " for the weights");
  if (int32_t waited =
          check(driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
      waited && !status)
    status = waited;
  if (int32_t destroyed =
          check(driver.cuStreamDestroy_v2(stream), "cuStreamDestroy_v2");
      destroyed && !status)
    status = destroyed;
  return status;
}

int32_t Loader::load() {
  const char *driver = nullptr;
  if (call.struct_size >= sizeof(ingot_abi_load))
    driver = call.driver;
  if (int32_t status = state.driver.open(driver, message))
    return status;
  if (int32_t status = openDevice())
    return status;
  Current current(state);
  if (int32_t status = check(current.result, "cuCtxPushCurrent_v2"))
    return status;
  if (int32_t status = loadModule())
    return status;
  if (int32_t status = findFunctions())
    return status;
  return copyWeights();
}

/// Releases everything that a state holds.
static void destroy(State *state) {
  // After a fork, the context belongs to the other process.
  if (state->context && state->owner == getpid()) {
    {
      Current current(*state);
      for (Run *run = state->idle; run;) {
        Run *next = run->next;
        destroyRun(run);
        run = next;
      }
      if (state->copies)
        state->driver.cuStreamDestroy_v2(state->copies);
      if (state->weights)
        state->driver.cuMemFree_v2(state->weights);
      if (state->module)
        state->driver.cuModuleUnload(state->module);
    }
    state->driver.cuDevicePrimaryCtxRelease_v2(state->device);
  }
  pthread_mutex_destroy(&state->mutex);
  free(state->functions);
  free(state);
}

/// Writes the name of the model's library to `name`.
static void nameOf(const ingot_cuda_program *program, char *name,
                   size_t bytes) {
  Dl_info library;
  const char *path = "model";
  if (dladdr(program, &library) && library.dli_fname)
    path = library.dli_fname;
  const char *slash = strrchr(path, '/');
  snprintf(name, bytes, "ingot %s", slash ? slash + 1 : path);
}

int32_t ingot_cuda_load(ingot_abi_load *call,
                        const ingot_cuda_program *program) {
  Message message{call->error, call->error_bytes};
  if (message.text && message.bytes)
    message.text[0] = 0;
  auto *state = static_cast<State *>(calloc(1, sizeof(State)));
  if (!state)
    return message.fail(INGOT_ABI_OUT_OF_MEMORY, "no memory to load the model");
  state->program = program;
  state->host = call->host;
  state->owner = getpid();
  state->ranges.open();
  nameOf(program, state->name, sizeof(state->name));
  const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
  state->isBlocking = blocking && !strcmp(blocking, "1");
  pthread_mutex_init(&state->mutex, nullptr);
  int32_t status = Loader{*state, *call, message}.load();
  if (status) {
    destroy(state);
    return status;
  }
  call->state = state;
  return INGOT_ABI_OK;
}

void ingot_cuda_unload(const ingot_abi_host *, void *state) {
  if (state)
    destroy(static_cast<State *>(state));
}
