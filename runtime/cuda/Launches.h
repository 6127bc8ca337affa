//===- Launches.h - kernels that a fault may come from ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_LAUNCHES_H
#define INGOT_RUNTIME_CUDA_LAUNCHES_H

#include "ingot/abi/cuda.h"

namespace ingot::cuda {

/// The size of a text that says where a call failed.
constexpr unsigned placeBytes = 384;

/// Writes " in kernel 'x' of node 'y'" to `placeBytes` bytes.
void describeKernel(const ingot_cuda_kernel &kernel, char *place);

/// The launches since the host has waited for the last time. The driver reports
/// a fault of a kernel in a later call, so it is in one of their kernels.
struct Launches {
  const ingot_cuda_kernel *first, *last;
  uint64_t count;

  void add(const ingot_cuda_kernel &kernel) {
    first = count++ ? first : &kernel;
    last = &kernel;
  }
  void clear() { count = 0; }
  /// Writes the kernels to `placeBytes` bytes. Returns false if there are none.
  bool describe(char *place) const;
};

} // namespace ingot::cuda

#endif // INGOT_RUNTIME_CUDA_LAUNCHES_H
