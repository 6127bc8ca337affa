//===- Scratch.h - buffers on the stack of a task ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_SCRATCH_H
#define INGOT_PASSES_CPU_POLICY_SCRATCH_H

#include <algorithm>
#include <cstdint>

namespace ingot::cpu {

/// The maximum number of bytes of a buffer on the stack of a task. The stack of
/// a thread may have only 512 KiB (docs/reference/embedding.md).
constexpr int64_t kMaxScratchBytes = 384 << 10;

/// Returns the bytes of a buffer that is `share` of a cache and on the stack.
inline int64_t fitStack(int64_t share) {
  return std::min(share, kMaxScratchBytes);
}

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_SCRATCH_H
