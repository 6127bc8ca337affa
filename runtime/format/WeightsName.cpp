//===- WeightsName.cpp - name of a weights file ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/WeightsName.h"

#include <string.h>

using namespace ingot::rt;

static constexpr char suffix[] = ".weights";
static constexpr char hexDigits[] = "0123456789abcdef";
static constexpr size_t numDigits = 16;
static constexpr size_t maxLibrary =
    maxFileName - sizeof(suffix) - numDigits - 1;

void ingot::rt::weightsName(const char *library, const uint8_t (&sha256)[32],
                            char (&name)[maxFileName]) {
  size_t length = strlen(library);
  if (length > maxLibrary) {
    length = maxLibrary;
    // Does not cut inside of a UTF-8 character.
    while (length &&
           (static_cast<unsigned char>(library[length]) & 0xc0) == 0x80)
      --length;
  }
  memcpy(name, library, length);
  char *at = name + length;
  *at++ = '.';
  for (size_t i = 0; i < numDigits / 2; ++i) {
    *at++ = hexDigits[sha256[i] >> 4];
    *at++ = hexDigits[sha256[i] & 15];
  }
  memcpy(at, suffix, sizeof(suffix));
}

bool ingot::rt::isWeightsName(const char *name, const char *library) {
  size_t length = strlen(library);
  return length <= maxLibrary &&
         strlen(name) == length + 1 + numDigits + sizeof(suffix) - 1 &&
         !memcmp(name, library, length) && name[length] == '.' &&
         strspn(name + length + 1, hexDigits) == numDigits &&
         !strcmp(name + length + 1 + numDigits, suffix);
}
