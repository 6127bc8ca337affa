//===- Model.h - a loaded model -------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_MODEL_H
#define INGOT_RUNTIME_CORE_MODEL_H

#include "ingot/abi/device.h"
#include "runtime/core/Device.h"
#include "runtime/core/Library.h"
#include "runtime/core/MappedFile.h"
#include "runtime/core/Memory.h"
#include "runtime/host/Pool.h"

/// A model. It does not change once it is loaded. Contexts hold references to
/// it.
struct ingot_model {
  ~ingot_model();

  /// Checks the artifact and prepares it. `subject` names it in messages.
  /// Separate weights are in the folder of `libraryPath`, which is null if
  /// there is no library file.
  ingot_status init(const ingot_abi_artifact *artifact, const char *subject,
                    const char *libraryPath,
                    const ingot_model_options &options, ingot_error *error);
  ingot_status selectVariant(const char *subject,
                             const ingot_model_options &options,
                             ingot_error *error);
  ingot_status mapWeights(const char *path, bool verify, const char *subject,
                          ingot_error *error);
  ingot_status mapWeightsBeside(const char *libraryPath, bool verify,
                                ingot_error *error);
  ingot_status runLoad(const char *subject, ingot_error *error);
  ingot_status fallBackToCpu(const char *subject,
                             const ingot_model_options &options,
                             ingot_status status, ingot_error *error);

  std::atomic<uint32_t> references{1};
  const ingot_abi_artifact *artifact = nullptr;
  ingot::rt::Device device; ///< as the caller asks
  uint32_t variant = 0;        ///< index of the variant in use
  ingot_abi_variant code = {}; ///< row of the variant in use
  ingot::rt::Library library;  ///< not open if attached
  ingot::rt::MappedFile weightsFile;
  const void *weights = nullptr;
  void *state = nullptr;
  bool loaded = false; ///< false for INGOT_MODEL_DESCRIBE_ONLY
  ingot_allocator allocator;
  ingot_pool *pool = nullptr;
  ingot_abi_host host = {};
};

#endif // INGOT_RUNTIME_CORE_MODEL_H
