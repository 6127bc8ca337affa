//===- Memory.h - allocation inside libingot ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_MEMORY_H
#define INGOT_RUNTIME_CORE_MEMORY_H

#include "ingot/ingot.h"

#include <new>
#include <stdlib.h>
#include <utility>

namespace ingot::rt {

/// Returns the default allocator, for callers that pass none.
ingot_allocator defaultAllocator();

/// Checks a caller's allocator and copies it to `out`. If it is null, copies
/// the default allocator.
ingot_status readAllocator(const ingot_allocator *given, ingot_allocator &out,
                           ingot_error *error);

/// Creates an object with malloc. The library is not linked with a C++ runtime,
/// so it has no operator new. Returns null if memory is exhausted.
template <typename T, typename... Args> T *create(Args &&...args) {
  void *memory = malloc(sizeof(T));
  return memory ? new (memory) T(std::forward<Args>(args)...) : nullptr;
}

template <typename T> void destroy(T *object) {
  if (!object)
    return;
  object->~T();
  free(object);
}

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_MEMORY_H
