//===- XxHash64.h - XXH64, a fast checksum --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_XXHASH64_H
#define INGOT_RUNTIME_FORMAT_XXHASH64_H

#include "runtime/format/Blocks.h"

namespace ingot::rt {

/// XXH64 with seed 0, as defined by version 0.1.1 of xxHash's specification.
/// XXH64 detects accidental changes, but not forgeries. It is used because it
/// is about as fast as memory on any CPU. SHA-256 would need instructions that
/// many servers lack.
class XxHash64 {
public:
  void update(const void *data, size_t size);
  uint64_t digest() const;

private:
  static constexpr uint64_t prime1 = 0x9e3779b185ebca87,
                            prime2 = 0xc2b2ae3d27d4eb4f;

  void consume(const uint8_t *stripes, size_t count);

  uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
  Blocks<32> stripes;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_XXHASH64_H
