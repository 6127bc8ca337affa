//===- HostMemory.h - buffers of the host and of the GPU --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_HOST_HOSTMEMORY_H
#define INGOT_PASSES_CUDA_HOST_HOSTMEMORY_H

#include "mlir/IR/Value.h"

#include <string>

namespace ingot::cuda {

/// Returns the memref that a view is made of, or null if it is no view.
mlir::Value sourceOf(mlir::Value memref);

/// Returns the memref that stands for a buffer of its own: a part of the arena,
/// or an argument.
mlir::Value wholeOf(mlir::Value memref);

/// Returns true if the memory is the host's own: that of constants, of the
/// stack, and of what a list becomes. All other buffers are in GPU memory, also
/// those whose sizes only a run knows.
bool isOfHost(mlir::Value memref);

/// Returns a phrase for the source of a value of the host that `op` uses. The
/// source is an input of the model, or another node. Returns "" if the value
/// has neither.
std::string describeSource(mlir::Value value, mlir::Operation *op);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_HOST_HOSTMEMORY_H
