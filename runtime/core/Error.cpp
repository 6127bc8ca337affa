//===- Error.cpp - error reporting inside libingot ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/core/Error.h"

#include <stdarg.h>
#include <stdio.h>

using namespace ingot::rt;

ingot_status ingot::rt::fail(ingot_error *error, ingot_status status,
                             const char *format, ...) {
  // If the caller's header is older, the struct is shorter. If the caller did
  // not set struct_size, only the status is returned, because the size of the
  // struct is unknown.
  constexpr size_t prefix = offsetof(ingot_error, message);
  if (!error || error->struct_size <= prefix)
    return status;
  size_t room = (error->struct_size < sizeof(ingot_error)
                     ? error->struct_size
                     : sizeof(ingot_error)) -
                prefix;
  error->status = status;
  va_list args;
  va_start(args, format);
  vsnprintf(error->message, room, format, args);
  va_end(args);
  // Replaces control characters, which names of files, nodes and symbols may
  // contain, because a message is one line.
  for (char *c = error->message; *c; ++c)
    if (static_cast<unsigned char>(*c) < ' ' || *c == '\x7f')
      *c = '?';
  return status;
}

/// Checks `struct_size`. If no version has this size, the caller did not set
/// it.
static ingot_status checkSize(const void *given, uint32_t &size,
                              const char *what, ingot_error *error) {
  constexpr uint32_t most = 4096;
  memcpy(&size, given, sizeof(size));
  if (size >= 2 * sizeof(uint32_t) && size <= most)
    return INGOT_OK;
  return fail(error, INGOT_INVALID_ARGUMENT,
              "%s.struct_size is %u; initialise the struct with its "
              "INGOT_..._INIT macro",
              what, size);
}

ingot_status ingot::rt::readSized(const void *given, void *known,
                                  uint32_t knownSize, const char *what,
                                  ingot_error *error) {
  if (!given)
    return INGOT_OK;
  uint32_t size;
  if (ingot_status status = checkSize(given, size, what, error))
    return status;
  const auto *bytes = static_cast<const unsigned char *>(given);
  for (uint32_t i = knownSize; i < size; ++i)
    if (bytes[i])
      return fail(error, INGOT_VERSION_MISMATCH,
                  "%s uses a field that this libingot (%s) does not know; "
                  "update libingot",
                  what, ingot_version_get());
  memcpy(known, given, size < knownSize ? size : knownSize);
  return INGOT_OK;
}

ingot_status ingot::rt::writeSized(void *given, const void *known,
                                   uint32_t knownSize, const char *what,
                                   ingot_error *error) {
  if (!given)
    return fail(error, INGOT_INVALID_ARGUMENT, "%s is null", what);
  uint32_t size;
  if (ingot_status status = checkSize(given, size, what, error))
    return status;
  uint32_t fill = size < knownSize ? size : knownSize;
  memcpy(static_cast<char *>(given) + sizeof(size),
         static_cast<const char *>(known) + sizeof(size), fill - sizeof(size));
  if (size > knownSize)
    memset(static_cast<char *>(given) + knownSize, 0, size - knownSize);
  return INGOT_OK;
}

const char *ingot_status_describe(ingot_status status) {
  switch (status) {
  case INGOT_OK:
    return "ok";
  case INGOT_INVALID_ARGUMENT:
    return "invalid argument";
  case INGOT_BUFFER_TOO_SMALL:
    return "buffer too small";
  case INGOT_OUT_OF_MEMORY:
    return "out of memory";
  case INGOT_NOT_FOUND:
    return "not found";
  case INGOT_BAD_ARTIFACT:
    return "bad artifact";
  case INGOT_VERSION_MISMATCH:
    return "version mismatch";
  case INGOT_UNSUPPORTED_DEVICE:
    return "unsupported device";
  case INGOT_BACKEND_ERROR:
    return "backend error";
  case INGOT_RUNTIME_CHECK:
    return "runtime check failed";
  case INGOT_BUSY:
    return "busy";
  case INGOT_CANCELLED:
    return "cancelled";
  default:
    return "unknown status";
  }
}

const char *ingot_version_get(void) { return INGOT_VERSION_STRING; }
