//===- Sha256.h - SHA-256 (FIPS 180-4) ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_SHA256_H
#define INGOT_RUNTIME_FORMAT_SHA256_H

#include "runtime/format/Blocks.h"

namespace ingot::rt {

/// SHA-256 of data in pieces of any size, up to 2^61 bytes as in the standard.
/// Uses SHA instructions if the CPU has them.
class Sha256 {
public:
  Sha256();

  void update(const void *data, size_t size);
  /// Returns the digest of all data. Further updates are not allowed.
  void finish(uint8_t (&digest)[32]);

  /// Returns an object that uses only portable code, without SHA instructions,
  /// for tests.
  static Sha256 portable();

private:
  using Compress = void (*)(uint32_t *state, const uint8_t *blocks,
                            size_t count);
  explicit Sha256(Compress compress);

  Compress compress;
  uint32_t state[8];
  Blocks<64> blocks;
};

/// Computes the digest of `size` bytes.
void sha256(const void *data, size_t size, uint8_t (&digest)[32]);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_SHA256_H
