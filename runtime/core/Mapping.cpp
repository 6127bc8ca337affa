//===- Mapping.cpp - what a loaded library has mapped ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Mapping.h"

#include <dlfcn.h>
#include <string.h>

using namespace ingot::rt;

namespace {
struct Search {
  const void *dynamic;
  Mapping found;
};
} // namespace

/// Compares an object by the address of its dynamic section, which is unique.
static int compareObject(dl_phdr_info *info, size_t, void *argument) {
  auto &search = *static_cast<Search *>(argument);
  for (unsigned i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC &&
        reinterpret_cast<const void *>(info->dlpi_addr +
                                       info->dlpi_phdr[i].p_vaddr) ==
            search.dynamic) {
      search.found = Mapping(info->dlpi_phdr, info->dlpi_phnum,
                             info->dlpi_addr);
      return 1;
    }
  return 0;
}

Mapping Mapping::ofLibrary(void *handle) {
  link_map *map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map)
    return {};
  Search search = {map->l_ld, {}};
  dl_iterate_phdr(compareObject, &search);
  return search.found;
}

uint64_t Mapping::room(const void *address, uint32_t flag) const {
  uintptr_t offset = reinterpret_cast<uintptr_t>(address) - base;
  for (unsigned i = 0; i < count; ++i) {
    const ElfW(Phdr) &segment = headers[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & flag) &&
        offset >= segment.p_vaddr && offset - segment.p_vaddr < segment.p_memsz)
      return segment.p_memsz - (offset - segment.p_vaddr);
  }
  return 0;
}

bool Mapping::holdsString(const char *text) const {
  if (isEmpty())
    return true;
  uint64_t most = room(text, PF_R);
  return most && memchr(text, 0, most);
}
