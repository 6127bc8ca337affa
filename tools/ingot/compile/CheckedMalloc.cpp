//===- CheckedMalloc.cpp - allocations of C that nobody checks ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR takes the memory of each operation from malloc and does not look at what
// it gets. An executable's functions stand in front of those of all libraries:
// so these ask whatever allocator there is, and end the compiler in one line
// where it has nothing left.
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

using namespace ingot;

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {
using Malloc = void *(*)(size_t);
using Calloc = void *(*)(size_t, size_t);
using Realloc = void *(*)(void *, size_t);
using Aligned = void *(*)(size_t, size_t);

/// What comes behind the executable: glibc's, or what was preloaded.
struct Next {
  Malloc malloc = __libc_malloc;
  Calloc calloc = __libc_calloc;
  Realloc realloc = __libc_realloc;
  Aligned memalign = __libc_memalign;
};
} // namespace

static Next next;
static enum { kUnknown, kAsking, kKnown } state = kUnknown;

template <typename Function>
static void find(Function &function, const char *name) {
  if (void *found = dlsym(RTLD_NEXT, name))
    function = reinterpret_cast<Function>(found);
}

/// jemalloc falls over where it finds no memory for its first tables, of which
/// there are less than these.
static void endWithoutRoom() {
  constexpr size_t kTables = 8 << 20;
  void *probe = mmap(nullptr, kTables, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED)
    endOutOfMemory();
  munmap(probe, kTables);
}

/// The first call comes from a library's constructor, before any thread.
static const Next &allocator() {
  if (state == kUnknown) {
    state = kAsking;
    find(next.malloc, "malloc");
    find(next.calloc, "calloc");
    find(next.realloc, "realloc");
    find(next.memalign, "memalign");
    endWithoutRoom();
    state = kKnown;
  }
  return next;
}

static void *check(void *memory, size_t bytes) {
  if (!memory && bytes && isWithoutMemoryTheEnd())
    endOutOfMemory();
  return memory;
}

extern "C" {

void *malloc(size_t bytes) noexcept {
  return check(allocator().malloc(bytes), bytes);
}

void *calloc(size_t count, size_t bytes) noexcept {
  return check(allocator().calloc(count, bytes), count && bytes);
}

void *realloc(void *old, size_t bytes) noexcept {
  return check(allocator().realloc(old, bytes), bytes);
}

void *memalign(size_t alignment, size_t bytes) noexcept {
  return check(allocator().memalign(alignment, bytes), bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) noexcept {
  return memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes) noexcept {
  if (!alignment || alignment % sizeof(void *) || (alignment & (alignment - 1)))
    return EINVAL;
  void *memory = memalign(alignment, bytes);
  if (!memory && bytes)
    return ENOMEM;
  *out = memory;
  return 0;
}
}
