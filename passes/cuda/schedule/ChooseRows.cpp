//===- ChooseRows.cpp - schedules of rows ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ChooseRows.h"

#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Returns the elements of the widest access of src and dst.
static int64_t widestVector(const Rows &rows) {
  if (isa<MomentsOp>(*rows.op))
    return rows.src.alignedElements(kAccessBytes / rows.src.elementBytes(),
                                    rows.part());
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
  const Number vectors = rows.vectors(vector);
  int64_t held = 0;
  if (holds && !vectors.isOpen())
    held =
        int64_t(llvm::divideCeil(uint64_t(vectors.known()), uint64_t(threads)));
  const int64_t blockThreads = threads * rowsOfBlock;
  int64_t most = RowScheduleAttr::getMaxHeld(blockThreads);
  if (blockThreads > kMaxThreads / 2)
    most = std::min(most, kRowElementsOfLargeBlock);
  if (held * vector > most)
    held = 0;
  return RowScheduleAttr::get(rows.op->getContext(), threads, rowsOfBlock,
                              vector, held);
}

/// Chooses few threads for a row, because exchanges of larger teams take
/// longer. But a thread must hold its elements in registers.
static RowScheduleAttr chooseThreads(const Rows &rows) {
  const int64_t vector = widestVector(rows),
                vectors = rows.vectors(vector).known();
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
         rows.usualRows(vector) / rowsOfBlock < kProcessors)
    rowsOfBlock /= 2;
  return makeSchedule(rows, threads, rowsOfBlock, vector, /*holds=*/true);
}

/// Vectors that the neighbors of a block should have, so that a row of them
/// has whole cache lines.
static constexpr int64_t kNeighbors = 8;

/// Returns the schedule of columns with `threads` for each vector of them.
static RowScheduleAttr scheduleColumns(const Rows &rows, int64_t threads,
                                       int64_t neighbors) {
  const int64_t vector = widestVector(rows);
  const int64_t least = std::max(neighbors, kWarp / threads);
  int64_t rowsOfBlock = std::max(least, kGridThreads / threads);
  while (rowsOfBlock > least &&
         rows.usualRows(vector) / rowsOfBlock < kProcessors)
    rowsOfBlock /= 2;
  return makeSchedule(rows, threads, rowsOfBlock, vector, /*holds=*/true);
}

int64_t cuda::estimateCycles(const Rows &rows, RowScheduleAttr schedule) {
  const int64_t vector = schedule.getVector(), threads = schedule.getThreads();
  const int64_t numRows = rows.usualRows(vector),
                vectors = rows.vectors(vector).knownOr(kUsual.size);
  const bool isHeld = schedule.getHeld() != 0,
             isReduction = isa<NormalizeOp, PoolOp, ReduceOp>(*rows.op);
  // Softmax and norms read what is not held three times.
  const int64_t reads = isHeld || isReduction ? 1 : 3;
  const int64_t steps = int64_t(llvm::divideCeil(vectors, threads)) * reads *
                        (isHeld ? kHeldStep : kReadStep);
  const int64_t exchanges = llvm::Log2_64(uint64_t(threads)) *
                            (isReduction ? 1 : 2) *
                            (kExchange + kExchangedResult * vector);
  const int64_t resident = kProcessors *
                           (kProcessorThreads / schedule.getBlockThreads()) *
                           schedule.getRows();
  const int64_t waves = int64_t(llvm::divideCeil(numRows, resident));
  const int64_t bytes = rows.bytes() * reads;
  return std::max(waves * (kLatency + steps + exchanges),
                  kLatency + bytes / kMemoryBytes);
}

std::string cuda::threadsText(RowScheduleAttr schedule) {
  return std::to_string(schedule.getThreads()) + "x" +
         std::to_string(schedule.getRows());
}

/// Chooses the schedule of columns with the least estimated time. Several
/// threads share columns if there are few, or if one cannot hold them.
static RowScheduleAttr chooseColumns(const Rows &rows,
                                     SmallVectorImpl<Alternative> &others) {
  const int64_t vector = widestVector(rows);
  const int64_t neighbors = int64_t(llvm::PowerOf2Ceil(
      uint64_t(std::min(rows.unitsOfRow(vector), kNeighbors))));
  const int64_t vectors = rows.vectors(vector).knownOr(kMaxThreads);
  RowScheduleAttr best;
  int64_t least = 0;
  for (int64_t threads = 1; threads * neighbors <= kMaxThreads; threads *= 2) {
    if (threads > 1 && threads >= 2 * vectors)
      break;
    RowScheduleAttr schedule = scheduleColumns(rows, threads, neighbors);
    const int64_t cycles = estimateCycles(rows, schedule);
    others.push_back({threadsText(schedule), cycles});
    if (!best || cycles < least) {
      best = schedule;
      least = cycles;
    }
  }
  return best;
}

RowScheduleAttr cuda::drawRowSchedule(const Rows &rows, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto draw = [&](uint64_t count) { return int64_t(random() % count); };
  const int64_t vector = std::max<int64_t>(widestVector(rows) >> draw(3), 1);
  const int64_t threads = int64_t(1) << draw(11);
  const int64_t least = std::max<int64_t>(1, kWarp / threads);
  const int64_t rowsOfBlock = std::min(least << draw(4), kMaxThreads / threads);
  return makeSchedule(rows, threads, rowsOfBlock, vector,
                      /*holds=*/draw(3) != 0);
}

RowScheduleAttr
cuda::chooseRowSchedule(const Rows &rows,
                        SmallVectorImpl<Alternative> &alternatives) {
  return rows.areColumns ? chooseColumns(rows, alternatives)
                         : chooseThreads(rows);
}

/// The most parts of a row.
static constexpr int64_t kMaxRowParts = 64;

/// Returns the numbers of parts that divide the elements of a row. Parts have
/// several vectors for each thread of a warp.
static SmallVector<int64_t> possibleParts(const Rows &rows) {
  SmallVector<int64_t> found;
  const int64_t depth = rows.depth.known();
  for (int64_t parts = 1; parts <= std::min(kMaxRowParts, depth / kWarp);
       ++parts)
    if (depth % parts == 0)
      found.push_back(parts);
  if (found.empty())
    found.push_back(1);
  return found;
}

int64_t cuda::choosePartsOfRows(Rows rows) {
  int64_t best = 1, least = 0;
  for (int64_t parts : possibleParts(rows)) {
    rows.parts = parts;
    SmallVector<Alternative> alternatives;
    RowScheduleAttr schedule = chooseRowSchedule(rows, alternatives);
    int64_t cycles = estimateCycles(rows, schedule);
    // Another kernel combines the parts. For a norm, it reads src again.
    if (parts > 1) {
      cycles += kLaunch + kLatency;
      if (isa<GroupNormOp>(*rows.op))
        cycles += rows.bytes() / kMemoryBytes;
    }
    if (parts == 1 || cycles < least) {
      best = parts;
      least = cycles;
    }
  }
  return best;
}

int64_t cuda::drawPartsOfRows(const Rows &rows, uint64_t seed) {
  SmallVector<int64_t> possible = possibleParts(rows);
  std::mt19937_64 random(seed);
  return possible[size_t(random() % possible.size())];
}
