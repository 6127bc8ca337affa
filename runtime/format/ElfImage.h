//===- ElfImage.h - ELF file in memory ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_ELFIMAGE_H
#define INGOT_RUNTIME_FORMAT_ELFIMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

namespace ingot::rt {

/// An untrusted ELF file in memory. Every access first checks that it is inside
/// of the file.
struct ElfImage {
  const unsigned char *bytes;
  uint64_t size;

  bool holds(uint64_t offset, uint64_t length) const {
    return offset <= size && length <= size - offset;
  }
  /// Returns a copy of a struct, because the file may not align it.
  template <typename T> T at(uint64_t offset) const {
    T value;
    memcpy(&value, bytes + offset, sizeof(T));
    return value;
  }

  /// Returns true if the file has a header, and its program headers are inside.
  bool hasSegments() const {
    if (!holds(0, sizeof(Elf64_Ehdr)))
      return false;
    auto header = at<Elf64_Ehdr>(0);
    return header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum &&
           header.e_phnum != PN_XNUM &&
           holds(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  }
  // Requires hasSegments() for all following functions.
  unsigned numSegments() const { return at<Elf64_Ehdr>(0).e_phnum; }
  Elf64_Phdr segment(unsigned i) const {
    return at<Elf64_Phdr>(at<Elf64_Ehdr>(0).e_phoff + i * sizeof(Elf64_Phdr));
  }
  /// Returns the file offset of the bytes that are mapped at `address`, or
  /// `size` if there are no such bytes.
  uint64_t offsetOf(uint64_t address, uint64_t length) const {
    for (unsigned i = 0; i < numSegments(); ++i) {
      Elf64_Phdr load = segment(i);
      if (load.p_type == PT_LOAD && address >= load.p_vaddr &&
          address - load.p_vaddr <= load.p_filesz &&
          length <= load.p_filesz - (address - load.p_vaddr) &&
          holds(load.p_offset, load.p_filesz))
        return load.p_offset + (address - load.p_vaddr);
    }
    return size;
  }
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_ELFIMAGE_H
