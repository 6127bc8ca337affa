//===- Prefetch.cpp - prefetches of rows and weights ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/Prefetch.h"

#include "passes/cpu/policy/Thresholds.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

SrcRows::SrcRows(IndexBuilder &b, Value data, Index first, Index stride,
                 int64_t count)
    : data(data), dataOf(count, data), stride(stride) {
  for (int64_t r = 0; r < count; ++r)
    at.push_back(b.add(first, b.mul(stride, r)));
}

TargetInfo cpu::targetOf(IndexBuilder &b) {
  return TargetInfo::of(b.b.getInsertionBlock()->getParentOp());
}

void cpu::prefetch(IndexBuilder &b, Value data, Index at, Into cache) {
  memref::PrefetchOp::create(b.b, b.loc, data, ValueRange{b.get(at)},
                             /*isWrite=*/false, uint32_t(cache),
                             /*isDataCache=*/true);
}

void cpu::prefetchRows(IndexBuilder &b, const SrcRows &rows, int64_t group,
                       const Steps &steps, int64_t distance, Into cache) {
  const int64_t words = targetOf(b).wordsOfLine();
  const int64_t count = int64_t(rows.at.size());
  const int64_t part =
      steps.count == 1 ? 1 : llvm::divideCeil(count * steps.count, words);
  Value turn = arith::AndIOp::create(b.b, b.loc, steps.k, b.get(words - 1));
  Index line =
      b.add(*rows.at[0], b.add(b.mul(Index(steps.k), group), distance * group));
  Index row = b.mul(b.div(Index(turn), steps.count), part);
  for (int64_t i = 0; i < part; ++i)
    prefetch(b, rows.data,
             b.add(line, b.mul(b.add(row, i), b.add(rows.stride, -group))),
             cache);
}

NextWeights cpu::nextWeights(IndexBuilder &b, Value weights, Index nextAt,
                             int64_t elements, Index pass, Index passes) {
  constexpr int64_t kWhole = NextWeights::kWhole;
  Index share;
  if (passes.value) {
    // With fewer than two passes, the unsigned difference wraps around and
    // fails the comparison.
    Value pays = b.compare(arith::CmpIPredicate::ule, b.add(passes, -2),
                           cpu::threshold::prefetchedPasses - 2);
    share = b.select(pays, b.div(kWhole, passes), 0);
  } else {
    if (passes.constant < 2 ||
        passes.constant > cpu::threshold::prefetchedPasses)
      return {};
    share = kWhole / passes.constant;
  }
  Index part = b.div(b.mul(share, elements), kWhole);
  return {weights, b.add(nextAt, b.mul(pass, part)), share};
}

NextWeights NextWeights::from(IndexBuilder &b, Index elements) const {
  if (!weights)
    return {};
  return {weights, b.add(at, b.div(b.mul(elements, share), kWhole)), share};
}

// The weights of a step fill two cache lines. At least two passes share the
// prefetching, so one line a step is enough.
void cpu::prefetchNext(IndexBuilder &b, const NextWeights &next, int64_t width,
                       Value k, int64_t steps) {
  if (!next.weights)
    return;
  const int64_t line = targetOf(b).line * 8 /
                       getElementTypeOrSelf(next.weights)
                           .getIntOrFloatBitWidth();
  auto shareOf = [&](Index steps) {
    return b.div(b.mul(steps, b.mul(next.share, width)), NextWeights::kWhole);
  };
  Index from = b.add(next.at, shareOf(k));
  std::optional<int64_t> last;
  for (int64_t i = 0; i < steps; ++i) {
    Index ahead = shareOf(i);
    // Prefetches a line only once if several steps share it.
    if (!ahead.value && last == ahead.constant / line)
      continue;
    last = ahead.constant / line;
    prefetch(b, next.weights, b.add(from, ahead), Into::second);
  }
}
