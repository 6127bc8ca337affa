//===- Team.h - threads that reduce a row together --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_TEAM_H
#define INGOT_PASSES_CUDA_KERNELS_TEAM_H

#include "passes/cuda/kernels/Code.h"

namespace ingot::cuda {

/// Threads that reduce the elements of a row together. All numbers are powers
/// of two.
struct Team {
  int64_t threads, blockThreads;
  /// The distance of the members of a team. Teams of neighbors have distance 1.
  /// Otherwise there are as many teams, and neighbors belong to different ones.
  int64_t distance = 1;

  /// Returns the team's number in the block, and the thread's in its team.
  Value teamOf(Code &code, Value thread) const;
  Value memberOf(Code &code, Value thread) const;
  /// Returns the bytes of shared memory in which threads exchange `count`
  /// results.
  int64_t sharedBytes(int64_t count) const;
};

/// Combines two partial results of result number `i`.
using CombineFn = llvm::function_ref<Value(size_t i, Value x, Value y)>;

/// The code that combines results: its module, the thread that runs it, and the
/// number of results that the kernel combines before.
struct TeamCode {
  mlir::ModuleOp kernels;
  Value thread;
  size_t numBefore = 0;
};

/// Combines the partial results of the threads of a team, of 32 bits each, in a
/// fixed order. Each thread gets the results. All threads of the block take
/// part.
llvm::SmallVector<Value> combineTeam(Code &code, const Team &team,
                                     const TeamCode &place,
                                     llvm::SmallVector<Value> parts,
                                     CombineFn combine);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_TEAM_H
