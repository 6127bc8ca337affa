//===- Profile.h - times of the layers of a model -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_PROFILE_H
#define INGOT_RUNTIME_CORE_PROFILE_H

#include "ingot/ingot.h"

namespace ingot::rt {

/// One clock read a layer: what lies between two reads is the layer's.
class Profile {
public:
  explicit Profile(const ingot_allocator &allocator) : allocator(allocator) {}
  ~Profile();

  /// Makes room for `numLayers`; false if there is no memory.
  bool start(uint32_t numLayers);
  void stop() { on = false; }
  bool isOn() const { return on; }
  void reset();

  /// Around a run: the start of its clock, what the run gets, and what it took.
  /// Times of a run that fails are dropped.
  void beginRun();
  const ingot_abi_profile *sink() const { return &abi; }
  void endRun(bool succeeded);

  const ingot_profile_times &layer(uint32_t index) const {
    static constexpr ingot_profile_times none = INGOT_PROFILE_TIMES_INIT;
    return rows ? rows[index].times : none;
  }
  const ingot_profile_times &run() const { return whole; }

private:
  /// Times of completed runs, and the layer's end in the run under way.
  struct Row {
    ingot_profile_times times;
    uint64_t start, end, flops, bytes;
  };

  static void layerEnd(void *user, uint64_t layer, uint64_t flops,
                       uint64_t bytes);

  ingot_allocator allocator;
  ingot_abi_profile abi = {sizeof(ingot_abi_profile), 0, this, layerEnd};
  Row *rows = nullptr;
  uint32_t numLayers = 0;
  bool on = false;
  uint64_t runStart = 0, last = 0;
  ingot_profile_times whole = INGOT_PROFILE_TIMES_INIT;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_PROFILE_H
