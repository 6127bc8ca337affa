//===- Device.h - the device that a caller asks for -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_DEVICE_H
#define INGOT_RUNTIME_CORE_DEVICE_H

#include "ingot/model.h"

namespace ingot::rt {

/// The device that a model is to run on.
struct Device {
  enum class Kind {
    best, ///< the best one that the machine has
    cpu,
    cuda
  };
  Kind kind = Kind::best;
  /// Number of the device among those of its kind.
  uint32_t index = 0;
  /// Path of the driver library of an emulated device; "" is the usual driver.
  char driver[4096] = "";
};

/// Reads the device that a caller asks for, or that of the variable
/// INGOT_DEVICE if `asked` is null. `source` names the caller's in messages.
ingot_status readDevice(const char *asked, const char *source, Device &device,
                        ingot_error *error);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_DEVICE_H
