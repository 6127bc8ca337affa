//===- PairCosts.cpp - bytes as int16 or in pairs -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/PairCosts.h"

#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/policy/PairLimits.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::shapeOf;

/// Returns the number of rows that share weights as int16.
static double rowsOfInt16(const RegisterTile &tile, int64_t rows) {
  int64_t knownRows = ShapedType::isDynamic(rows) ? 0 : rows;
  return double(std::max<int64_t>(tile.rows, std::min<int64_t>(knownRows, 64)));
}

double cpu::costOfInt16(const RegisterTile &tile, int64_t rows) {
  constexpr double kCopy = 0.25;
  return 4 + 3 / rowsOfInt16(tile, rows) + kCopy;
}

double cpu::costOfPairs(const RegisterTile &tile, ArrayRef<int64_t> counts,
                        int64_t columns) {
  ArrayRef<int64_t> kinds =
      columns > cpu::kPairColumns ? counts.drop_front(3) : counts.take_front(3);
  double all = double(kinds[0] + kinds[1] + kinds[2]);
  double perTile = 1.0 / double(tile.rows), vectors = double(tile.vectors);
  return (3 * double(kinds[0]) +
          (3 + 1 / vectors + perTile) * double(kinds[1]) +
          (4 + 2 / vectors + 3 * perTile) * double(kinds[2])) /
         all;
}

/// If bytes may be multiplied as int16 products or as pairs, returns both with
/// their cycles. The work is `terms` times all rows and columns of the result.
template <typename Op>
static SmallVector<Alternative, 3> weighPairs(Op op, int64_t terms) {
  TargetInfo target = TargetInfo::of(op);
  cpu::PackedWeights weights(op.getWeights());
  DenseI64ArrayAttr counts = op.getFormat().getPairCounts();
  if (!counts ||
      productFor(target, weights.element, weights.group) != Product::int8Wide)
    return {};
  RegisterTile tile = chooseTile(target, Product::int8Wide, weights.width);
  int64_t rows = support::productOf(shapeOf(op.getDst()).drop_back());
  int64_t vectors = llvm::divideCeil(op.dstChannels(), target.lanes);
  auto cycles = [&](double perVector) {
    return ShapedType::isDynamic(rows)
               ? -1
               : int64_t(perVector * double(rows * vectors * terms) /
                         double(4 * target.fma_ports));
  };
  double pairs = costOfPairs(tile, counts, tile.vectors * target.lanes);
  // Rules out pairs if there are few rows.
  bool isRuledOut = !haveRowsForPairs(rows);
  return {{"int8_wide", cycles(costOfInt16(tile, rows))},
          {"int8_pairs", isRuledOut ? -1 : cycles(pairs)}};
}

SmallVector<Alternative, 3> cpu::weighProducts(cpu::ScheduledOpInterface op) {
  if (auto conv = dyn_cast<cpu::ConvOp>(*op)) {
    cpu::PackedWeights weights(conv.getWeights());
    return weighPairs(conv, weights.depth *
                                support::productOf(weights.outer.drop_front()));
  }
  if (auto product = dyn_cast<cpu::MatMulOp>(*op))
    return weighPairs(product, cpu::PackedWeights(product.getWeights()).depth);
  return {};
}
