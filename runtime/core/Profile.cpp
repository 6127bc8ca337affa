//===- Profile.cpp - times of the layers of a model -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Profile.h"

#include "runtime/core/Error.h"
#include "runtime/core/Memory.h"
#include "runtime/core/Model.h"

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

bool Profile::init(uint32_t count) {
  // A model without layers still has times of whole runs.
  if (count)
    rows = static_cast<Row *>(allocator.allocate(
        allocator.user, uint64_t(count) * sizeof(Row), alignof(Row)));
  if (count && !rows)
    return false;
  numLayers = count;
  reset();
  return true;
}

void Profile::reset() {
  whole = noTimes;
  for (uint32_t i = 0; i < numLayers; ++i)
    rows[i] = {noTimes, 0, 0, 0, 0};
}

void Profile::beginRun() {
  for (uint32_t i = 0; i < numLayers; ++i)
    rows[i].end = 0;
  runStart = last = nowNs();
}

void Profile::endLayer(uint64_t layer, uint64_t flops, uint64_t bytes) {
  if (layer >= numLayers)
    return;
  uint64_t now = nowNs();
  rows[layer] = {rows[layer].times, last, now, flops, bytes};
  last = now;
}

void Profile::setLayer(uint64_t layer, uint64_t flops, uint64_t bytes,
                       uint64_t start, uint64_t end) {
  if (layer < numLayers)
    rows[layer] = {rows[layer].times, runStart + start, runStart + end, flops,
                   bytes};
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
/// Holds a profile exclusively, as a run does, so that no run writes the
/// profile while it is read.
class Hold {
public:
  Hold(ingot_profile *profile, ingot_error *error) {
    if (!profile) {
      status = fail(error, INGOT_INVALID_ARGUMENT, "profile is null");
    } else if (profile->running.exchange(true, std::memory_order_acquire)) {
      status = fail(error, INGOT_BUSY,
                    "the profile is used by a run in another thread");
    } else {
      held = profile;
    }
  }
  ~Hold() {
    if (held)
      held->running.store(false, std::memory_order_release);
  }
  ingot_status status = INGOT_OK;

private:
  ingot_profile *held = nullptr;
};
} // namespace

ingot_profile::ingot_profile(ingot_model *model,
                             const ingot_allocator &allocator)
    : model(model), times(allocator) {
  model->references.fetch_add(1, std::memory_order_relaxed);
}

ingot_profile::~ingot_profile() { ingot_model_release(model); }

ingot_status ingot_profile_create(ingot_model *model,
                                  const ingot_profile_options *given,
                                  ingot_profile **profile, ingot_error *error) {
  ingot_profile_options options = INGOT_PROFILE_OPTIONS_INIT;
  ingot_allocator allocator;
  if (!model || !profile)
    return fail(error, INGOT_INVALID_ARGUMENT, "model or profile is null");
  if (ingot_status status =
          readOptions(given, options, "ingot_profile_options", error))
    return status;
  if (options.reserved0 || anyNonZero(options.reserved))
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_profile_options: reserved fields must be zero");
  if (ingot_status status = readAllocator(options.allocator, allocator, error))
    return status;
  uint32_t layers = model->artifact->layers.count;
  auto *created = create<ingot_profile>(model, allocator);
  if (!created || !created->times.init(layers)) {
    destroy(created);
    return fail(error, INGOT_OUT_OF_MEMORY,
                "no memory for a profile of %u layers", layers);
  }
  *profile = created;
  return INGOT_OK;
}

void ingot_profile_release(ingot_profile *profile) { destroy(profile); }

ingot_status ingot_profile_reset(ingot_profile *profile, ingot_error *error) {
  Hold hold(profile, error);
  if (!hold.status)
    profile->times.reset();
  return hold.status;
}

ingot_status ingot_profile_run_get(ingot_profile *profile,
                                   ingot_profile_times *times,
                                   ingot_error *error) {
  Hold hold(profile, error);
  if (hold.status)
    return hold.status;
  return writeSized(times, &profile->times.run(), sizeof(*times),
                    "ingot_profile_times", error);
}

ingot_status ingot_profile_layer_get(ingot_profile *profile, uint32_t layer,
                                     ingot_profile_times *times,
                                     ingot_error *error) {
  Hold hold(profile, error);
  if (hold.status)
    return hold.status;
  uint32_t layers = profile->model->artifact->layers.count;
  if (layer >= layers)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "layer %u was asked for, but the model has %u", layer, layers);
  return writeSized(times, &profile->times.layer(layer), sizeof(*times),
                    "ingot_profile_times", error);
}
