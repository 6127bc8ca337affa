//===- Driver.cpp - the driver library and its errors ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

using namespace ingot::cuda;

int32_t Message::fail(int32_t status, const char *format, ...) const {
  if (!text || !bytes || text[0])
    return status;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, bytes, format, arguments);
  va_end(arguments);
  return status;
}

/// The version of the oldest driver that compiles PTX 8.0: CUDA 12.0.
static constexpr int leastVersion = 12000;

int32_t Driver::open(const char *path, const Message &message) {
  const char *name = path ? path : "libcuda.so.1";
  // The driver has threads of its own, so it is never closed.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "no CUDA driver: %s; install NVIDIA's driver, or run "
                        "on the CPU",
                        dlerror());
#define INGOT_CUDA_FIND(NAME, TYPES)                                           \
  NAME = reinterpret_cast<decltype(NAME)>(dlsym(library, #NAME));              \
  if (!NAME)                                                                   \
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,                          \
                        "the CUDA driver '%s' has no function %s; driver 525 " \
                        "or later is needed",                                  \
                        name, #NAME);
  INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_CUDA_FIND)
#undef INGOT_CUDA_FIND
  int version = 0;
  if (Result result = cuDriverGetVersion(&version))
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "cuDriverGetVersion failed: %s", nameOf(result));
  if (version < leastVersion)
    return message.fail(INGOT_ABI_UNSUPPORTED_DEVICE,
                        "the CUDA driver is for CUDA %d.%d; driver 525 or "
                        "later, for CUDA 12.0, is needed",
                        version / 1000, version % 1000 / 10);
  if (Result result = cuInit(0))
    return message.fail(
        INGOT_ABI_UNSUPPORTED_DEVICE, "%scuInit failed: %s",
        result == noDevice ? "this machine has no CUDA device: " : "",
        nameOf(result));
  return INGOT_ABI_OK;
}

const char *Driver::nameOf(Result result) const {
  const char *name = nullptr;
  if (!cuGetErrorName || cuGetErrorName(result, &name) || !name)
    return "unknown CUDA error";
  return name;
}

bool ingot::cuda::endsContext(Result result) {
  switch (result) {
  case eccUncorrectable:
  case illegalAddress:
  case launchTimeout:
  case assertFailed:
  case hardwareStackError:
  case illegalInstruction:
  case misalignedAddress:
  case invalidAddressSpace:
  case invalidPc:
  case launchFailed:
    return true;
  default:
    return false;
  }
}

int32_t State::check(Result result, const char *call, const Message &message,
                     const char *place) {
  if (!result)
    return INGOT_ABI_OK;
  const int32_t status =
      result == outOfMemory ? INGOT_ABI_OUT_OF_MEMORY : INGOT_ABI_BACKEND_ERROR;
  char text[sizeof(faultText)];
  snprintf(text, sizeof(text), "%s failed%s: %s", call, place,
           driver.nameOf(result));
  if (endsContext(result)) {
    pthread_mutex_lock(&mutex);
    if (!fault) {
      fault = result;
      memcpy(faultText, text, sizeof(text));
    }
    pthread_mutex_unlock(&mutex);
  }
  return message.fail(status, "%s", text);
}
