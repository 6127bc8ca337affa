//===- Gpu.cpp - the GPU, through its driver ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Gpu.h"

#include <stdlib.h>
#include <string.h>

using namespace ingot;
using namespace ingot::gpu;

std::string Gpu::open() {
  const char *name = getenv("INGOT_DEVICE");
  isEmulated = name && !strcmp(name, "emulated");
  const char *path = isEmulated ? getenv("INGOT_EMULATED_DRIVER") : nullptr;
  if (isEmulated && !path)
    return "INGOT_EMULATED_DRIVER must name the driver of the emulated GPU";
  char text[512] = "";
  if (driver.open(path, {text, sizeof(text)}))
    return text;
  int count = 0, major = 0, minor = 0;
  std::string problem =
      check(driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (problem.empty() && !count)
    return "there is no CUDA device";
  if (problem.empty())
    problem = check(driver.cuDeviceGet(&device, 0), "cuDeviceGet");
  if (problem.empty())
    problem = check(driver.cuDeviceGetAttribute(
                        &major, cuda::computeCapabilityMajor, device),
                    "cuDeviceGetAttribute");
  if (problem.empty())
    problem = check(driver.cuDeviceGetAttribute(
                        &minor, cuda::computeCapabilityMinor, device),
                    "cuDeviceGetAttribute");
  if (problem.empty())
    problem = check(driver.cuDevicePrimaryCtxRetain(&context, device),
                    "cuDevicePrimaryCtxRetain");
  if (problem.empty())
    problem = check(driver.cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
  level = 10 * major + minor;
  return problem;
}

Gpu::~Gpu() {
  if (!context)
    return;
  cuda::Context popped;
  driver.cuCtxPopCurrent_v2(&popped);
  driver.cuDevicePrimaryCtxRelease_v2(device);
}

std::string Gpu::check(cuda::Result result, const char *call) const {
  if (!result)
    return "";
  return std::string(call) + " failed: " + driver.nameOf(result);
}

Json Gpu::describe() const {
  char name[256] = "";
  size_t bytes = 0;
  int version = 0, processors = 0;
  driver.cuDeviceGetName(name, sizeof(name), device);
  driver.cuDeviceTotalMem_v2(&bytes, device);
  driver.cuDriverGetVersion(&version);
  driver.cuDeviceGetAttribute(&processors, cuda::multiprocessorCount, device);
  return {{"name", name},
          {"level", "sm_" + std::to_string(level)},
          {"multiprocessors", processors},
          {"memory_bytes", bytes},
          {"driver_for_cuda", std::to_string(version / 1000) + "." +
                                  std::to_string(version % 1000 / 10)},
          {"emulated", isEmulated}};
}
