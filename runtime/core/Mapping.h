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

/// The address range of a library, for checking pointers in its tables. An
/// empty mapping accepts every address. It is for an artifact that is part of
/// the program, because the end of such an artifact is unknown.
class Mapping {
public:
  Mapping() = default;
  Mapping(const ElfW(Phdr) * headers, unsigned count, uintptr_t base)
      : headers(headers), count(count), base(base) {}

  /// Returns the mapping of a library that dlopen has loaded. `handle` must
  /// stay open.
  static Mapping ofLibrary(void *handle);

  bool isEmpty() const { return !headers; }
  const ElfW(Phdr) * segments() const { return headers; }
  unsigned numSegments() const { return count; }
  uintptr_t start() const { return base; }

  /// Returns true if an aligned array of `count` objects of T is inside.
  template <typename T> bool holdsArray(const T *first, uint64_t count) const {
    uint64_t bytes;
    return reinterpret_cast<uintptr_t>(first) % alignof(T) == 0 &&
           !__builtin_mul_overflow(count, uint64_t(sizeof(T)), &bytes) &&
           holds(first, bytes);
  }
  bool holds(const void *first, uint64_t bytes) const {
    return isEmpty() || room(first, PF_R) >= bytes;
  }
  /// Returns true if the string is inside, including its terminating null.
  bool holdsString(const char *text) const;
  bool holdsFunction(const void *code) const {
    return isEmpty() || room(code, PF_X) > 0;
  }

private:
  /// Returns the number of bytes from `address` to the end of its segment.
  /// Returns 0 if the address is in no segment with the flag.
  uint64_t room(const void *address, uint32_t flag) const;

  const ElfW(Phdr) *headers = nullptr;
  unsigned count = 0;
  uintptr_t base = 0;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_MAPPING_H
