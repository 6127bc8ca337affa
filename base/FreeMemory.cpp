//===- FreeMemory.cpp - memory that the allocator keeps -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FreeMemory.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>

using namespace ingot;

/// jemalloc's name for "free the unused pages of all arenas"; 4096 is
/// MALLCTL_ARENAS_ALL.
static const char kPurgeAll[] = "arena.4096.purge";

void ingot::returnFreeMemory() {
  using Control = int (*)(const char *, void *, size_t *, void *, size_t);
  // jemalloc is found at run time, because only some executables link it.
  if (auto *control = reinterpret_cast<Control>(dlsym(RTLD_DEFAULT, "mallctl")))
    control(kPurgeAll, nullptr, nullptr, nullptr, 0);
  malloc_trim(0);
}
