//===- PrivateCode.cpp - a loaded library without its file ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/PrivateCode.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace ingot::rt;

namespace {
/// Whole pages from `begin` up to `end`.
struct Pages {
  uintptr_t begin, end;

  bool isEmpty() const { return begin >= end; }
};
} // namespace

static uintptr_t roundDown(uintptr_t address) {
  return address & ~uintptr_t(sysconf(_SC_PAGESIZE) - 1);
}

static uintptr_t roundUp(uintptr_t address) {
  return roundDown(address + uintptr_t(sysconf(_SC_PAGESIZE)) - 1);
}

/// Copies memory, including the gaps between variables. If the library is built
/// with AddressSanitizer, memcpy would report an error for such gaps.
__attribute__((no_sanitize("address"))) static void
copyBytes(void *to, uintptr_t from, uint64_t bytes) {
  auto *target = static_cast<volatile uint64_t *>(to);
  auto *source = reinterpret_cast<const volatile uint64_t *>(from);
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i)
    target[i] = source[i];
}

/// Replaces read-only pages by a copy. The kernel exchanges the pages in one
/// step, because other threads may run code in them.
static void copyPages(Pages pages, int protection) {
  if (pages.isEmpty())
    return;
  uint64_t bytes = pages.end - pages.begin;
  void *copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (copy == MAP_FAILED)
    return;
  copyBytes(copy, pages.begin, bytes);
  if (mprotect(copy, bytes, protection) ||
      mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             reinterpret_cast<void *>(pages.begin)) == MAP_FAILED)
    munmap(copy, bytes);
}

void ingot::rt::makePrivate(const Mapping &library,
                            const ingot_abi_seal &seal) {
  uintptr_t start = library.start();
  Pages weights = {
      roundUp(start + seal.weights_address),
      roundDown(start + seal.weights_address + seal.weights_bytes)};
  for (unsigned i = 0; i < library.numSegments(); ++i) {
    const ElfW(Phdr) &segment = library.segments()[i];
    uintptr_t begin = start + segment.p_vaddr;
    if (segment.p_type == PT_GNU_RELRO) {
      // Rounds the range as the dynamic linker does when it makes the range
      // read-only.
      copyPages({roundDown(begin), roundDown(begin + segment.p_memsz)},
                PROT_READ);
      continue;
    }
    if (segment.p_type != PT_LOAD || !segment.p_filesz ||
        (segment.p_flags & (PF_R | PF_W)) != PF_R)
      continue;
    int protection = PROT_READ | (segment.p_flags & PF_X ? PROT_EXEC : 0);
    Pages pages = {roundDown(begin), roundUp(begin + segment.p_filesz)};
    if (weights.isEmpty() || weights.begin < pages.begin ||
        weights.end > pages.end) {
      copyPages(pages, protection);
      continue;
    }
    copyPages({pages.begin, weights.begin}, protection);
    copyPages({weights.end, pages.end}, protection);
  }
}
