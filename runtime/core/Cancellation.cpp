//===- Cancellation.cpp - request to end runs early -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Cancellation.h"

#include "runtime/core/Error.h"
#include "runtime/core/Memory.h"

using namespace ingot::rt;

ingot_status ingot_cancellation_create(ingot_cancellation **cancellation,
                                       ingot_error *error) {
  if (!cancellation)
    return fail(error, INGOT_INVALID_ARGUMENT, "cancellation is null");
  auto *created = create<ingot_cancellation>();
  if (!created)
    return fail(error, INGOT_OUT_OF_MEMORY, "no memory for a cancellation");
  *cancellation = created;
  return INGOT_OK;
}

void ingot_cancellation_release(ingot_cancellation *cancellation) {
  destroy(cancellation);
}

void ingot_cancellation_request(ingot_cancellation *cancellation) {
  if (cancellation)
    cancellation->requested.store(true, std::memory_order_relaxed);
}
