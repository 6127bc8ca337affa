//===- Profile.h - times of the layers of a model -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_PROFILE_H
#define INGOT_RUNTIME_CORE_PROFILE_H

#include "ingot/ingot.h"

#include <atomic>

namespace ingot::rt {

/// Times of layers. On a CPU, the clock is read once per layer, at its end. The
/// time between two reads belongs to the layer that ends at the second read. A
/// device with events measures the times itself.
class Profile {
public:
  explicit Profile(const ingot_allocator &allocator) : allocator(allocator) {}
  ~Profile();

  /// Makes room for `numLayers` layers. Returns false if memory is exhausted.
  bool init(uint32_t numLayers);
  void reset();

  /// Starts the clock of a run. If the run fails, its times are dropped.
  void beginRun();
  void endLayer(uint64_t layer, uint64_t flops, uint64_t bytes);
  /// Sets the times that a device has measured, in nanoseconds since the start
  /// of the run.
  void setLayer(uint64_t layer, uint64_t flops, uint64_t bytes, uint64_t start,
                uint64_t end);
  void endRun(bool succeeded);

  const ingot_profile_times &layer(uint32_t index) const {
    return rows[index].times;
  }
  const ingot_profile_times &run() const { return whole; }

private:
  /// Times of a layer in completed runs, and the layer's end in the current
  /// run.
  struct Row {
    ingot_profile_times times;
    uint64_t start, end, flops, bytes;
  };

  ingot_allocator allocator;
  Row *rows = nullptr;
  uint32_t numLayers = 0;
  uint64_t runStart = 0, last = 0;
  ingot_profile_times whole = INGOT_PROFILE_TIMES_INIT;
};

} // namespace ingot::rt

/// Times of the layers of one model.
struct ingot_profile {
  ingot_profile(ingot_model *model, const ingot_allocator &allocator);
  ~ingot_profile();

  ingot_model *model;
  ingot::rt::Profile times;
  std::atomic<bool> running{false};
};

#endif // INGOT_RUNTIME_CORE_PROFILE_H
