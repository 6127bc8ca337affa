//===- CheckedMalloc.cpp - allocations of C that nobody checks ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR allocates operations with malloc and does not check the result.
// Functions of an executable take precedence over those of libraries. So the
// functions here call the next allocator. If it returns null, they end the
// compiler with one line.
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
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

/// The allocator after the executable's functions: glibc's, or a preloaded one.
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

/// Returns true if the system could provide that many bytes.
static bool canHave(size_t bytes) {
  void *probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

/// Ends the process if there is no memory for jemalloc's first tables. The
/// check uses more memory than the tables need. Without it, jemalloc would
/// crash.
static void endWithoutRoom() {
  constexpr size_t kTables = 8 << 20;
  if (!canHave(kTables))
    endOutOfMemory();
}

/// Returns true if a large allocation exceeds the available memory. jemalloc
/// reserves address space without this check. The process would later be killed
/// when it writes to the memory.
static bool isTooMuch(size_t bytes) {
  constexpr size_t kMuch = size_t(64) << 20;
  return bytes >= kMuch && !canHave(bytes);
}

/// Returns the next allocator. A library's constructor makes the first call,
/// before any thread starts.
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

/// Returns the result of `take`, which allocates `bytes`. Ends the process if
/// memory is exhausted.
template <typename Take>
static void *checked(size_t bytes, Take take) {
  void *memory = nullptr;
  if (isTooMuch(bytes))
    errno = ENOMEM;
  else
    memory = take(allocator());
  if (!memory && bytes && isWithoutMemoryTheEnd())
    endOutOfMemory();
  return memory;
}

extern "C" {

/// The options that jemalloc reads when it starts. They select a single arena,
/// which is made before any thread starts. With more arenas, a new thread would
/// crash if its arena cannot be allocated. Threads cache freed memory, so they
/// rarely wait for the arena.
[[gnu::visibility("default")]] const char *malloc_conf = "narenas:1";

void *malloc(size_t bytes) noexcept {
  return checked(bytes, [&](const Next &next) { return next.malloc(bytes); });
}

void *calloc(size_t count, size_t bytes) noexcept {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all))
    all = SIZE_MAX; // no allocation has this size
  return checked(all,
                 [&](const Next &next) { return next.calloc(count, bytes); });
}

void *realloc(void *old, size_t bytes) noexcept {
  return checked(bytes,
                 [&](const Next &next) { return next.realloc(old, bytes); });
}

void *memalign(size_t alignment, size_t bytes) noexcept {
  return checked(
      bytes, [&](const Next &next) { return next.memalign(alignment, bytes); });
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
