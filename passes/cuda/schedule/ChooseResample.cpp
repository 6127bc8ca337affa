//===- ChooseResample.cpp - schedules of resampling -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ChooseResample.h"

#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

static RowScheduleAttr makeSchedule(const Resample &resample, int64_t rows,
                                    int64_t vector) {
  ResampleOp op = resample.op;
  return RowScheduleAttr::get(op->getContext(), /*threads=*/1, rows, vector,
                              /*held=*/0);
}

int64_t cuda::estimateCycles(const Resample &resample,
                             RowScheduleAttr schedule) {
  ResampleOp op = resample.op;
  const int64_t vector = schedule.getVector(), taps = op.numAllTaps(),
                threads = resample.usualThreads(vector),
                srcBytes = resample.src.elementBytes(),
                dstBytes = resample.dst.elementBytes();
  const int64_t waves = int64_t(llvm::divideCeil(
      uint64_t(threads), uint64_t(kProcessors * kProcessorThreads)));
  // Memory delivers each element once, and caches deliver those of all taps.
  const int64_t unique = usualProduct(resample.src.sizes) * srcBytes +
                         usualProduct(resample.dst.sizes) * dstBytes,
                delivered = threads * vector * (taps * srcBytes + dstBytes);
  // A thread waits for positions, then for the elements.
  const int64_t steps =
      (op.numDims() * op.numTaps() * (resample.weights.empty() ? 1 : 2) +
       taps) *
      kHeldStep;
  return kLatency + std::max({waves * steps, unique / kMemoryBytes,
                              delivered / (kCacheBytes * kProcessors)});
}

RowScheduleAttr cuda::chooseResample(const Resample &resample,
                                     SmallVectorImpl<Alternative> &others) {
  RowScheduleAttr best;
  int64_t least = 0;
  // The widest accesses come first, and win over narrower ones that take as
  // long.
  for (int64_t vector = resample.widestVector(); vector >= 1; vector /= 2) {
    RowScheduleAttr schedule = makeSchedule(resample, kGridThreads, vector);
    const int64_t cycles = estimateCycles(resample, schedule);
    others.push_back({"vectors of " + std::to_string(vector), cycles});
    if (best && cycles >= least)
      continue;
    best = schedule;
    least = cycles;
  }
  return best;
}

RowScheduleAttr cuda::drawResample(const Resample &resample, uint64_t seed) {
  std::mt19937_64 random(seed);
  const int64_t vector =
      std::max<int64_t>(resample.widestVector() >> random() % 4, 1);
  return makeSchedule(resample, kWarp << random() % 5, vector);
}
