//===- BlockSort.h - sort of a block in shared memory -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_BLOCKSORT_H
#define INGOT_PASSES_CUDA_KERNELS_BLOCKSORT_H

#include "passes/cuda/kernels/Code.h"

namespace ingot::cuda {

/// Writes a sort of items of 64 bits in the shared memory of a block (bitonic
/// sort: Batcher, Sorting networks and their applications, 1968).
class BlockSort {
public:
  /// Bytes of an item.
  static constexpr int64_t kItemBytes = 8;
  using IsGreater = llvm::function_ref<Value(Value x, Value y)>;

  /// Sorts `items`, a power of two.
  BlockSort(Code &code, int64_t items);

  int64_t numItems() const { return items; }
  int64_t numThreads() const { return threads; }
  int64_t sharedBytes() const { return items * kItemBytes; }

  /// Declares the memory. The other functions follow.
  void begin(mlir::ModuleOp kernels);
  Value thread() const { return ownThread; }
  Value load(Value slot);
  void store(Value item, Value slot);
  /// Returns an item behind those of all elements.
  Value last();
  /// Runs `body` for numbers from `from` to before `end`.
  void forEach(Value from, Number end, int64_t step,
               llvm::function_ref<void(Value)> body);
  /// Sorts all items. Threads wait for each other before and behind it.
  void sort(IsGreater isGreater);

private:
  Value place(Value slot);
  void exchange(Value pair, Value stage, Value distance, IsGreater isGreater);

  Code &code;
  int64_t items, threads;
  Value shared, ownThread;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_BLOCKSORT_H
