//===- Mapping.h - what a loaded library has mapped -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_MAPPING_H
#define INGOT_RUNTIME_CORE_MAPPING_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace ingot::rt {

/// The addresses that belong to a library, so that pointers of its tables can
/// be checked. An empty mapping accepts every address: if the artifact is part
/// of the program, its end is unknown.
class Mapping {
public:
  Mapping() = default;
  Mapping(const ElfW(Phdr) * headers, unsigned count, uintptr_t base)
      : headers(headers), count(count), base(base) {}

  /// Returns the mapping of an object that dlopen returned; `handle` must stay
  /// open.
  static Mapping ofLibrary(void *handle);

  bool isEmpty() const { return !headers; }
  const ElfW(Phdr) * segments() const { return headers; }
  unsigned numSegments() const { return count; }
  uintptr_t start() const { return base; }

  /// Returns true if `count` aligned objects of T are inside.
  template <typename T> bool holdsArray(const T *first, uint64_t count) const {
    uint64_t bytes;
    return reinterpret_cast<uintptr_t>(first) % alignof(T) == 0 &&
           !__builtin_mul_overflow(count, uint64_t(sizeof(T)), &bytes) &&
           holds(first, bytes);
  }
  bool holds(const void *first, uint64_t bytes) const {
    return isEmpty() || room(first, PF_R) >= bytes;
  }
  /// Returns true if the string is inside, including its null.
  bool holdsString(const char *text) const;
  bool holdsFunction(const void *code) const {
    return isEmpty() || room(code, PF_X) > 0;
  }

private:
  /// Returns the bytes from `address` to the end of its segment; 0 if no
  /// segment with the flag contains it.
  uint64_t room(const void *address, uint32_t flag) const;

  const ElfW(Phdr) *headers = nullptr;
  unsigned count = 0;
  uintptr_t base = 0;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_MAPPING_H
