//===- LayerTimes.cpp - times of the layers of a run ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/State.h"

#include <stdlib.h>

using namespace ingot::cuda;

/// Makes room for one more event. Returns false if there is no memory.
static bool makeRoom(LayerTimes &times) {
  if (times.count < times.room)
    return true;
  const uint32_t room = times.room ? 2 * times.room : 64;
  void *events = realloc(times.events, room * sizeof(Event));
  if (events)
    times.events = static_cast<Event *>(events);
  void *layers = realloc(times.layers, room * sizeof(LayerTimes::Layer));
  if (layers)
    times.layers = static_cast<LayerTimes::Layer *>(layers);
  if (!events || !layers)
    return false;
  times.room = room;
  return true;
}

int32_t Run::markLayer(const LayerTimes::Layer &layer, const Message &message) {
  if (!makeRoom(times))
    return message.fail(INGOT_ABI_OUT_OF_MEMORY,
                        "no memory for the times of layers");
  Event &event = times.events[times.count];
  if (times.count == times.made) {
    if (int32_t status = check(state->driver.cuEventCreate(&event, 0),
                               "cuEventCreate", message, " for a profile"))
      return status;
    ++times.made;
  }
  times.layers[times.count] = layer;
  if (int32_t status = check(state->driver.cuEventRecord(event, stream),
                             "cuEventRecord", message, " for a profile"))
    return status;
  ++times.count;
  return INGOT_ABI_OK;
}

int32_t Run::reportTimes(const Message &message) {
  uint64_t start = 0;
  for (uint32_t i = 1; i < times.count; ++i) {
    float milliseconds = 0;
    if (int32_t status =
            check(state->driver.cuEventElapsedTime(
                      &milliseconds, times.events[i - 1], times.events[i]),
                  "cuEventElapsedTime", message, " for a profile"))
      return status;
    const uint64_t end = start + uint64_t(double(milliseconds) * 1e6);
    const LayerTimes::Layer &layer = times.layers[i];
    if (layer.number != LayerTimes::noLayer)
      asked->layer_time(asked->user, state->program->first_layer + layer.number,
                        layer.flops, layer.bytes, start, end);
    start = end;
  }
  return INGOT_ABI_OK;
}

void Run::freeTimes(bool isOurs) {
  for (uint32_t i = 0; isOurs && i < times.made; ++i)
    state->driver.cuEventDestroy_v2(times.events[i]);
  free(times.events);
  free(times.layers);
  times = {};
}
