//===- Memory.cpp - allocation inside libingot ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Memory.h"

#include "runtime/core/Error.h"

using namespace ingot::rt;

static void *systemAllocate(void *, uint64_t bytes, uint64_t alignment) {
  if (alignment < sizeof(void *))
    alignment = sizeof(void *);
  void *memory = nullptr;
  return posix_memalign(&memory, alignment, bytes ? bytes : 1) ? nullptr
                                                               : memory;
}

static void systemRelease(void *, void *pointer) { free(pointer); }

ingot_allocator ingot::rt::defaultAllocator() {
  return {sizeof(ingot_allocator), 0, nullptr, systemAllocate, systemRelease};
}

ingot_status ingot::rt::readAllocator(const ingot_allocator *given,
                                      ingot_allocator &out,
                                      ingot_error *error) {
  ingot_allocator copy = INGOT_ALLOCATOR_INIT;
  if (!given) {
    out = defaultAllocator();
    return INGOT_OK;
  }
  if (ingot_status status =
          readOptions(given, copy, "ingot_allocator", error))
    return status;
  if (!copy.allocate || !copy.release)
    return fail(error, INGOT_INVALID_ARGUMENT,
                "ingot_allocator needs both allocate and release");
  out = copy;
  return INGOT_OK;
}
