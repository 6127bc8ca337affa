//===- Blocks.h - bytes that are taken a block at a time --------*- C++ -*-===//
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

/// What a hash of blocks of `size` bytes is given piece by piece.
template <size_t size> struct Blocks {
  /// All that was given.
  uint64_t bytes = 0;
  /// The last of them, which are no block yet.
  uint8_t rest[size];

  size_t held() const { return bytes % size; }

  /// Calls consume(blocks, count) with what is whole by now.
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
