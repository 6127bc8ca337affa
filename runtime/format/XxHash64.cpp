//===- XxHash64.cpp - XXH64, a fast checksum ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/XxHash64.h"

#include <string.h>

using namespace ingot::rt;

static constexpr uint64_t prime3 = 0x165667b19e3779f9,
                          prime4 = 0x85ebca77c2b2ae63,
                          prime5 = 0x27d4eb2f165667c5;

static uint64_t rotate(uint64_t x, int n) { return x << n | x >> (64 - n); }

template <typename T> static T read(const uint8_t *bytes) {
  static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                "little endian only");
  T value;
  memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Consumes stripes of 32 bytes. Each stripe has one 64-bit word for each lane.
void XxHash64::consume(const uint8_t *stripes, size_t count) {
  uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
  auto round = [](uint64_t lane, uint64_t word) {
    return rotate(lane + word * prime2, 31) * prime1;
  };
  for (; count; --count, stripes += 32) {
    a = round(a, read<uint64_t>(stripes));
    b = round(b, read<uint64_t>(stripes + 8));
    c = round(c, read<uint64_t>(stripes + 16));
    d = round(d, read<uint64_t>(stripes + 24));
  }
  lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

void XxHash64::update(const void *data, size_t size) {
  stripes.add(data, size, [this](const uint8_t *whole, size_t count) {
    consume(whole, count);
  });
}

uint64_t XxHash64::digest() const {
  uint64_t hash = prime5;
  if (stripes.bytes >= 32) {
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
           rotate(lanes[3], 18);
    for (uint64_t lane : lanes)
      hash = (hash ^ rotate(lane * prime2, 31) * prime1) * prime1 + prime4;
  }
  hash += stripes.bytes;
  const uint8_t *next = stripes.rest, *end = next + stripes.held();
  for (; end - next >= 8; next += 8)
    hash = rotate(hash ^ rotate(read<uint64_t>(next) * prime2, 31) * prime1,
                  27) * prime1 + prime4;
  if (end - next >= 4) {
    hash = rotate(hash ^ read<uint32_t>(next) * prime1, 23) * prime2 + prime3;
    next += 4;
  }
  for (; next != end; ++next)
    hash = rotate(hash ^ *next * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}
