//===- Memory.cpp - allocation inside libingot ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Memory.h"

#include "runtime/core/Error.h"

#include <algorithm>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

using namespace ingot::rt;

/// Size of a huge page on x86-64.
static constexpr uint64_t kHugePage = 2 << 20;

/// Allocates memory. If the memory fills at least half a huge page, requests
/// whole huge pages. A run accesses its whole arena. With 4 KiB pages, it would
/// often wait for address translation.
static void *systemAllocate(void *, uint64_t bytes, uint64_t alignment) {
  bool isHuge = bytes >= kHugePage / 2 && bytes <= UINT64_MAX - kHugePage;
  if (isHuge) {
    bytes = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    alignment = std::max(alignment, kHugePage);
  }
  alignment = std::max<uint64_t>(alignment, sizeof(void *));
  void *memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes ? bytes : 1))
    return nullptr;
  // If the system has no huge pages, small pages are used.
  if (isHuge)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
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
