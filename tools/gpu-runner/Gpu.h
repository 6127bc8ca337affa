//===- Gpu.h - the GPU, through its driver ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_GPU_RUNNER_GPU_H
#define INGOT_TOOLS_GPU_RUNNER_GPU_H

#include "runtime/cuda/State.h"

#include <nlohmann/json.hpp>

#include <string>

namespace ingot::gpu {

/// JSON whose members keep their order.
using Json = nlohmann::ordered_json;

/// GPU 0, or the emulated GPU if INGOT_DEVICE is "emulated". Holds the primary
/// context, which is current in the thread that opened it.
class Gpu {
public:
  Gpu() = default;
  Gpu(const Gpu &) = delete;
  ~Gpu();

  /// Opens the driver and the device. Returns an error message, or "".
  std::string open();

  /// Returns "", or a message that the call failed.
  std::string check(cuda::Result result, const char *call) const;

  /// Describes the device and the driver.
  Json describe() const;

  /// Compute capability: 10 * major + minor.
  int level = 0;
  bool isEmulated = false;
  cuda::Driver driver = {};

private:
  cuda::Device device = 0;
  cuda::Context context = nullptr;
};

} // namespace ingot::gpu

#endif // INGOT_TOOLS_GPU_RUNNER_GPU_H
