//===- Profile.cpp - times of the layers of a model -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Profile.h"

#include "runtime/core/Artifact.h"
#include "runtime/core/Context.h"
#include "runtime/core/Error.h"

#include <time.h>

using namespace ingot::rt;

static uint64_t nowNs() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

static constexpr ingot_profile_times noTimes = INGOT_PROFILE_TIMES_INIT;

static void addTime(ingot_profile_times &times, uint64_t start, uint64_t end) {
  uint64_t ns = end - start;
  times.min_ns = times.runs && times.min_ns < ns ? times.min_ns : ns;
  times.max_ns = times.max_ns > ns ? times.max_ns : ns;
  times.total_ns += ns;
  times.last_ns = ns;
  ++times.runs;
}

Profile::~Profile() {
  if (rows)
    allocator.release(allocator.user, rows);
}

bool Profile::start(uint32_t count) {
  if (!rows) {
    // A model without layers still has the times of whole runs.
    uint64_t bytes = (uint64_t(count) + !count) * sizeof(Row);
    rows = static_cast<Row *>(
        allocator.allocate(allocator.user, bytes, alignof(Row)));
    if (!rows)
      return false;
    numLayers = count;
    reset();
  }
  on = true;
  return true;
}

void Profile::reset() {
  whole = noTimes;
  for (uint32_t i = 0; rows && i < numLayers; ++i)
    rows[i] = {noTimes, 0, 0, 0, 0};
}

void Profile::beginRun() {
  for (uint32_t i = 0; i < numLayers; ++i)
    rows[i].end = 0;
  runStart = last = nowNs();
}

void Profile::layerEnd(void *user, uint64_t layer, uint64_t flops,
                       uint64_t bytes) {
  auto &profile = *static_cast<Profile *>(user);
  if (layer >= profile.numLayers)
    return;
  uint64_t now = nowNs();
  profile.rows[layer] = {profile.rows[layer].times, profile.last, now, flops,
                         bytes};
  profile.last = now;
}

void Profile::endRun(bool succeeded) {
  if (!succeeded)
    return;
  addTime(whole, runStart, nowNs());
  whole.flops = whole.bytes = 0;
  for (uint32_t i = 0; i < numLayers; ++i) {
    Row &row = rows[i];
    if (!row.end)
      continue;
    addTime(row.times, row.start, row.end);
    row.times.last_start_ns = row.start - runStart;
    row.times.flops = row.flops;
    row.times.bytes = row.bytes;
    whole.flops += row.flops;
    whole.bytes += row.bytes;
  }
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

namespace {
/// Holds a context as a run does, so that it is not profiled and read at once.
class Hold {
public:
  Hold(ingot_context *context, ingot_error *error) {
    if (!context) {
      status = fail(error, INGOT_INVALID_ARGUMENT, "context is null");
    } else if (context->running.exchange(true, std::memory_order_acquire)) {
      status = fail(error, INGOT_BUSY,
                    "the context is running in another thread");
    } else {
      held = context;
    }
  }
  ~Hold() {
    if (held)
      held->running.store(false, std::memory_order_release);
  }
  ingot_status status = INGOT_OK;

private:
  ingot_context *held = nullptr;
};
} // namespace

ingot_status ingot_context_profile_start(ingot_context *context,
                                         ingot_error *error) {
  Hold hold(context, error);
  if (hold.status)
    return hold.status;
  uint32_t layers = layerCount(*context->model->artifact);
  if (!context->profile.start(layers))
    return fail(error, INGOT_OUT_OF_MEMORY,
                "no memory for a profile of %u layers", layers);
  return INGOT_OK;
}

ingot_status ingot_context_profile_stop(ingot_context *context,
                                        ingot_error *error) {
  Hold hold(context, error);
  if (!hold.status)
    context->profile.stop();
  return hold.status;
}

ingot_status ingot_context_profile_reset(ingot_context *context,
                                         ingot_error *error) {
  Hold hold(context, error);
  if (!hold.status)
    context->profile.reset();
  return hold.status;
}

ingot_status ingot_context_profile_run(ingot_context *context,
                                       ingot_profile_times *times,
                                       ingot_error *error) {
  Hold hold(context, error);
  if (hold.status)
    return hold.status;
  return writeSized(times, &context->profile.run(), sizeof(*times),
                    "ingot_profile_times", error);
}

ingot_status ingot_context_profile_layer(ingot_context *context, uint32_t layer,
                                         ingot_profile_times *times,
                                         ingot_error *error) {
  Hold hold(context, error);
  if (hold.status)
    return hold.status;
  uint32_t layers = layerCount(*context->model->artifact);
  if (layer >= layers)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "layer %u was asked for, but the model has %u", layer, layers);
  return writeSized(times, &context->profile.layer(layer), sizeof(*times),
                    "ingot_profile_times", error);
}
