//===- Ranges.h - ranges in profilers' timelines ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Marks runs and layers by NVTX, NVIDIA's interface of profilers. A profiler
// names its library in NVTX_INJECTION64_PATH. Without a profiler there are no
// ranges. The protocol is that of the headers of NVTX 3, which are not needed.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_RANGES_H
#define INGOT_RUNTIME_CUDA_RANGES_H

namespace ingot::cuda {

struct Ranges {
  /// Finds the functions of a profiler, if there is one.
  void open();

  void push(const char *name) const {
    if (begin)
      begin(name);
  }
  void pop() const {
    if (end)
      end();
  }

  /// nvtxRangePushA and nvtxRangePop; null without a profiler.
  int (*begin)(const char *name);
  int (*end)();
};

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_RANGES_H
