//===- LargePages.cpp - the heap in large pages ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/LargePages.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace ingot;

/// Whether a process may have as much address space, which limits or the way in
/// which the system commits memory can forbid.
static bool canReserve(size_t bytes) {
  void *probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

bool ingot::takeHeapFromLargePages(size_t bytes) {
#ifdef __GLIBC__
  if (bytes > INT_MAX || !canReserve(bytes))
    return false;
  // What a block of the heap may be at most, before it gets pages of its own:
  // the library finds that by itself until its other numbers are set.
  constexpr int kLargestBlock = 32 << 20;
  constexpr size_t kPage = 4096;
  // The heap is to grow by `bytes` at once, so that all of it can be advised
  // before any is touched, and never to be given back.
  if (!mallopt(M_MMAP_THRESHOLD, kLargestBlock) ||
      !mallopt(M_TRIM_THRESHOLD, INT_MAX) || !mallopt(M_TOP_PAD, int(bytes)))
    return false;
  uintptr_t before = uintptr_t(sbrk(0));
  // Larger than any gap of a heap this young, so that the heap has to grow; and
  // volatile, or compilers leave out what nobody uses.
  void *volatile block = malloc(1 << 20);
  uintptr_t after = uintptr_t(sbrk(0));
  free(block);
  mallopt(M_TOP_PAD, 1 << 20);
  uintptr_t begin = (before + kPage - 1) / kPage * kPage;
  // Another allocator has a heap of its own.
  if (after < begin + bytes)
    return false;
  return madvise(reinterpret_cast<void *>(begin), after - begin,
                 MADV_HUGEPAGE) == 0;
#else
  return false;
#endif
}
