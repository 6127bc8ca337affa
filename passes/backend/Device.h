//===- Device.h - kinds of machines that code is generated for --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Describes a device to the parts of the compiler that all devices share. The
// description has the names of its levels in `--target`, and the row of its
// code in an artifact.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_DEVICE_H
#define INGOT_PASSES_BACKEND_DEVICE_H

#include "runtime/include/ingot/abi/artifact.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace ingot {

/// The row of an artifact's table of variants for code that runs on a device,
/// and the functions that the code needs. The code starts on a CPU.
struct Emission {
  /// Number of the device, INGOT_ABI_DEVICE_....
  uint32_t device = INGOT_ABI_DEVICE_CPU;
  /// Memory that inputs and outputs may lie in, bits 1 << INGOT_ABI_MEMORY_....
  uint32_t memories = 1u << INGOT_ABI_MEMORY_HOST;
  /// Bits INGOT_ABI_VARIANT_....
  uint32_t flags = 0;
  /// Name of the `ingot_abi_device` with the device's functions; empty if there
  /// is none. A library of a backend defines it.
  llvm::StringLiteral functions = "";
  /// Function that calls the body of a run. A library of a backend, or the
  /// library of all artifacts, defines it.
  llvm::StringLiteral runner = "ingot_support_run";
  /// Prefix of the functions that pack and unpack strings of a run.
  llvm::StringLiteral stringFunctions = "ingot_support_";
  /// True if the passes of a level give each model `ingot_load` and
  /// `ingot_unload`.
  bool addsLoad = false;
  /// Key of the artifact's metadata in which the passes of a level describe the
  /// code; empty if they describe nothing.
  llvm::StringLiteral record = "";
};

/// A level of a device: machines that run the same machine code.
struct DeviceLevel {
  unsigned number;
  /// True if the device's name alone in `--target` stands for the level, too.
  bool isUsual;
};

/// A kind of machine to generate code for. Each backend belongs to one device.
struct Device {
  /// Name of the device, a single word.
  llvm::StringLiteral name;
  /// Name in messages, a plural.
  llvm::StringLiteral title;
  /// True if the host cannot access the memory of a run, so that all constants
  /// that kernels read must lie in the weights.
  bool hasOwnMemory = false;
  /// A level is called by this prefix and its number.
  llvm::StringLiteral levelPrefix = "";
  /// Levels that `--target` may name. `kCpu` has none here, because
  /// cpu_features.inc lists the levels of CPUs.
  llvm::ArrayRef<DeviceLevel> levels = {};
  Emission emission = {};

  bool operator==(const Device &other) const { return name == other.name; }
  bool operator!=(const Device &other) const { return !(*this == other); }
};

inline constexpr Device kCpu{"cpu", "CPUs"};

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_DEVICE_H
