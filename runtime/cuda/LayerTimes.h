//===- LayerTimes.h - times of the layers of a run --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_LAYERTIMES_H
#define INGOT_RUNTIME_CUDA_LAYERTIMES_H

#include "runtime/cuda/DriverApi.h"

#include <stdint.h>

namespace ingot::cuda {

/// Events between the layers of a run, for a profile. A layer takes the time
/// from the event before it to its own, so the host need not wait in between.
struct LayerTimes {
  /// The layer that ends at an event, as generated code reports it.
  struct Layer {
    uint64_t number, flops, bytes;
  };
  /// The number of what is no layer: the start of the run, and the copies of
  /// inputs.
  static constexpr uint64_t noLayer = UINT64_MAX;

  Event *events;
  Layer *layers;
  /// The number of events of this run, of events that exist, and of places for
  /// them.
  uint32_t count, made, room;
};

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_LAYERTIMES_H
