//===- Error.h - error reporting inside libingot --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_ERROR_H
#define INGOT_RUNTIME_CORE_ERROR_H

#include "ingot/ingot.h"

#include <string.h>

namespace ingot::rt {

/// Returns `status`. Also writes a formatted message to `error`, unless it is
/// null.
[[gnu::format(printf, 3, 4)]] ingot_status
fail(ingot_error *error, ingot_status status, const char *format, ...);

/// Copies a caller's sized struct to `known`, which holds defaults. Fields that
/// the caller's header does not have keep their defaults. Fields that this
/// library does not have must be zero.
ingot_status readSized(const void *given, void *known, uint32_t knownSize,
                       const char *what, ingot_error *error);

template <typename T>
ingot_status readOptions(const T *given, T &known, const char *what,
                         ingot_error *error) {
  // Fast path for the size that nearly all callers pass, because each run reads
  // structs.
  if (given && given->struct_size == sizeof(T)) {
    known = *given;
    return INGOT_OK;
  }
  return readSized(given, &known, sizeof(T), what, error);
}

/// Copies `known` to a caller's sized struct, up to the caller's size.
ingot_status writeSized(void *given, const void *known, uint32_t knownSize,
                        const char *what, ingot_error *error);

template <size_t count>
bool anyNonZero(const uint64_t (&reserved)[count]) {
  uint64_t any = 0;
  for (uint64_t field : reserved)
    any |= field;
  return any != 0;
}

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_ERROR_H
