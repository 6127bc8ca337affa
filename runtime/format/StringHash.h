/*===- StringHash.h - hash of strings ---------------------------*- C -*-===
 *
 * Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * SipHash-1-3 with a key of zeros. The compiler lays out a model's table of
 * strings by it, and a run looks up the strings of its inputs.
 *
 *===----------------------------------------------------------------------===*/
#ifndef INGOT_RUNTIME_FORMAT_STRINGHASH_H
#define INGOT_RUNTIME_FORMAT_STRINGHASH_H

#include <stdint.h>
#include <string.h>

static inline uint64_t ingot_rotate64(uint64_t value, unsigned bits) {
  return value << bits | value >> (64 - bits);
}

static inline void ingot_sip_round(uint64_t v[4]) {
  v[0] += v[1];
  v[2] += v[3];
  v[1] = ingot_rotate64(v[1], 13) ^ v[0];
  v[3] = ingot_rotate64(v[3], 16) ^ v[2];
  v[0] = ingot_rotate64(v[0], 32);
  v[2] += v[1];
  v[0] += v[3];
  v[1] = ingot_rotate64(v[1], 17) ^ v[2];
  v[3] = ingot_rotate64(v[3], 21) ^ v[0];
  v[2] = ingot_rotate64(v[2], 32);
}

static inline uint64_t ingot_string_hash(const char *bytes, uint64_t length) {
  uint64_t v[4] = {0x736f6d6570736575u, 0x646f72616e646f6du,
                   0x6c7967656e657261u, 0x7465646279746573u};
  uint64_t word;
  uint64_t left = length;
  for (; left >= 8; left -= 8, bytes += 8) {
    memcpy(&word, bytes, 8);
    v[3] ^= word;
    ingot_sip_round(v);
    v[0] ^= word;
  }
  word = 0;
  if (left != 0)
    memcpy(&word, bytes, left);
  word |= length << 56;
  v[3] ^= word;
  ingot_sip_round(v);
  v[0] ^= word;
  v[2] ^= 0xff;
  for (int i = 0; i < 3; ++i)
    ingot_sip_round(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* INGOT_RUNTIME_FORMAT_STRINGHASH_H */
