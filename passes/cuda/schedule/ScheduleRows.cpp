//===- ScheduleRows.cpp - cuda-schedule-rows ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/rows/Rows.h"
#include "passes/cuda/schedule/Grids.h"
#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <random>

namespace ingot {
#define GEN_PASS_DEF_SCHEDULEROWS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct ScheduleRowsPass : ingot::impl::ScheduleRowsBase<ScheduleRowsPass> {
  using ScheduleRowsBase::ScheduleRowsBase;
  void runOnOperation() override;
};

} // namespace

/// Returns the elements of the widest access of src and dst.
static int64_t widestVector(const Rows &rows) {
  const int64_t most =
      kAccessBytes / std::max(rows.src.elementBytes(), rows.dst.elementBytes());
  return storedElements(rows.dst, rows.operands,
                        rows.src.alignedElements(most, rows.part()),
                        rows.part());
}

/// Returns the schedule of a row of `threads`. The threads hold the row if
/// `holds` is true and it fits into their registers.
static RowScheduleAttr makeSchedule(const Rows &rows, int64_t threads,
                                    int64_t rowsOfBlock, int64_t vector,
                                    bool holds) {
  int64_t held = int64_t(llvm::divideCeil(
      uint64_t(rows.length()), uint64_t(vector) * uint64_t(threads)));
  const int64_t blockThreads = threads * rowsOfBlock;
  int64_t most = RowScheduleAttr::getMaxHeld(blockThreads);
  if (blockThreads > kMaxThreads / 2)
    most = std::min(most, kRowElementsOfLargeBlock);
  if (!holds || held * vector > most)
    held = 0;
  return RowScheduleAttr::get(rows.op->getContext(), threads, rowsOfBlock,
                              vector, held);
}

/// Chooses few threads for a row, because exchanges of larger teams take
/// longer. But a thread must hold its elements in registers.
static RowScheduleAttr choose(const Rows &rows) {
  const int64_t vector = widestVector(rows), vectors = rows.length() / vector;
  int64_t threads =
      std::min(kWarp, int64_t(llvm::PowerOf2Ceil(uint64_t(vectors))));
  while (threads < kMaxThreads &&
         llvm::divideCeil(uint64_t(vectors), uint64_t(threads)) *
                 uint64_t(vector) >
             uint64_t(kRowElements))
    threads *= 2;
  // Small blocks leave no multiprocessor without rows.
  int64_t rowsOfBlock = std::max<int64_t>(1, kGridThreads / threads);
  while (rowsOfBlock * threads > kWarp && rowsOfBlock > 1 &&
         rows.usualRows() / rowsOfBlock < kProcessors)
    rowsOfBlock /= 2;
  return makeSchedule(rows, threads, rowsOfBlock, vector, /*holds=*/true);
}

/// Returns a schedule that a test draws by `seed`: any that fits.
static RowScheduleAttr draw(const Rows &rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](uint64_t count) { return int64_t(random() % count); };
  const int64_t vector = std::max<int64_t>(widestVector(rows) >> draw(3), 1);
  const int64_t threads = int64_t(1) << draw(11);
  const int64_t least = std::max<int64_t>(1, kWarp / threads);
  const int64_t rowsOfBlock = std::min(least << draw(4), kMaxThreads / threads);
  return makeSchedule(rows, threads, rowsOfBlock, vector,
                      /*holds=*/draw(3) != 0);
}

void ScheduleRowsPass::runOnOperation() {
  uint64_t number = 0;
  getOperation()->walk([&](kernel::EpilogueOpInterface op) {
    if (!isRowKernel(op) || op->getNumResults() != 0 || op->hasAttr("schedule"))
      return;
    Rows rows(op);
    op->setAttr("schedule",
                seed == 0 ? choose(rows) : draw(rows, seed + ++number));
    ++chosen;
  });
}
