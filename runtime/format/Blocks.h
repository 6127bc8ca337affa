//===- Blocks.h - input of block hashes -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_FORMAT_BLOCKS_H
#define INGOT_RUNTIME_FORMAT_BLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace ingot::rt {

/// Buffers the input of a hash that processes blocks of `size` bytes.
template <size_t size> struct Blocks {
  /// Number of bytes so far.
  uint64_t bytes = 0;
  /// Bytes at the end that do not fill a block yet.
  uint8_t rest[size];

  size_t held() const { return bytes % size; }

  /// Adds data. Calls consume(blocks, count) for all complete blocks.
  template <typename Consume>
  void add(const void *data, size_t count, Consume consume) {
    const auto *next = static_cast<const uint8_t *>(data);
    size_t before = held();
    bytes += count;
    if (before) {
      size_t room = size - before, taken = count < room ? count : room;
      memcpy(rest + before, next, taken);
      if (taken < room)
        return;
      consume(rest, size_t(1));
      next += taken;
      count -= taken;
    }
    if (count >= size)
      consume(next, count / size);
    if (count % size)
      memcpy(rest, next + count / size * size, count % size);
  }
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_FORMAT_BLOCKS_H
