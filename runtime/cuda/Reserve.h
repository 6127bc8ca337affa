//===- Reserve.h - buffers that runs use again ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_RESERVE_H
#define INGOT_RUNTIME_CUDA_RESERVE_H

#include "runtime/cuda/Heap.h"

namespace ingot::cuda {

/// The size of a buffer that runs use again. A run that needs more makes it
/// larger. It is released when several runs in a row have used less than half
/// of it, as the heap is.
struct Reserve {
  /// Bytes of the buffer, and those that the current run uses.
  uint64_t bytes, used;
  /// Recent runs in a row that used less than half.
  uint32_t numSmall;

  /// Ends a run. Returns true if the buffer must be released.
  bool endRun() {
    numSmall = used < bytes - bytes / 2 ? numSmall + 1 : 0;
    used = 0;
    if (!bytes || numSmall < Heap::kRuns)
      return false;
    *this = {};
    return true;
  }
};

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_RESERVE_H
