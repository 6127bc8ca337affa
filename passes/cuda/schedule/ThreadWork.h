//===- ThreadWork.h - instructions of a kernel ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_SCHEDULE_THREADWORK_H
#define INGOT_PASSES_CUDA_SCHEDULE_THREADWORK_H

#include "passes/cuda/products/Depthwise.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::cuda {

/// The work of a thread, in cycles of a multiprocessor that issues instructions
/// for `kIssueRate` threads in each cycle.
struct ThreadWork {
  /// Cycles in which instructions are issued.
  uint64_t issued = 0;
  /// Cycles that the thread waits for others and for memory.
  uint64_t waited = 0;
};

/// Returns the work of a thread of `kernel`, whose body is written. A loop
/// whose number of steps only a run knows takes a usual number.
ThreadWork countWork(mlir::func::FuncOp kernel);

/// Returns the work of a thread of a depthwise convolution.
ThreadWork countWork(const Depthwise &facts);

/// Returns the cycles of blocks of `threads` threads.
int64_t estimateCycles(ThreadWork work, int64_t threads, int64_t blocks);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_SCHEDULE_THREADWORK_H
