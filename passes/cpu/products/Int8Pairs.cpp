//===- Int8Pairs.cpp - products of bytes in pairs that do not saturate ----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/PairProducts.h"
#include "passes/cpu/products/ProductKernel.h"

#include "dialects/cpu/PackedWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// The number of kinds of groups: as stored, crossed, and widened first.
static constexpr int64_t kKinds = 3;
/// The number of integers in an entry.
static constexpr int64_t kEntry = 2;

PairLists::PairLists(IndexBuilder &b, int64_t runs, int64_t taps,
                     int64_t groupsOfTap)
    : runs(runs), taps(taps), groupsOfTap(groupsOfTap) {
  Type number = b.b.getI32Type();
  entries = createScratch(b, runs * kKinds * groupsOfRun() * kEntry, number);
  counts = createScratch(b, runs * kKinds, number);
}

static Value toNumber(IndexBuilder &b, Index index) {
  return arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(), b.get(index));
}

static Index loadNumber(IndexBuilder &b, Value numbers, Index at) {
  Value number = memref::LoadOp::create(b.b, b.loc, numbers, b.get(at));
  return Index(Value(
      arith::IndexCastOp::create(b.b, b.loc, b.b.getIndexType(), number)));
}

/// Returns for each kind 1 if a group is of that kind, else 0.
static Accumulators kindsOf(IndexBuilder &b, Value statement, Index first,
                            int64_t columns) {
  Type type = b.b.getI32Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b.b, b.loc,
                                     b.b.getI32IntegerAttr(int32_t(value)));
  };
  auto shift = [&](Value value, Value by) -> Value {
    return arith::ShRUIOp::create(b.b, b.loc, value, by);
  };
  Value said = arith::ExtUIOp::create(b.b, b.loc, type, statement);
  if (columns > cpu::kPairColumns)
    said = arith::AndIOp::create(b.b, b.loc, said, shift(said, number(2)));
  else
    said = shift(said, toNumber(b, b.mul(b.div(first, cpu::kPairColumns), 2)));
  Value asIs = arith::AndIOp::create(b.b, b.loc, said, number(1));
  Value other =
      arith::AndIOp::create(b.b, b.loc, shift(said, number(1)), number(1));
  Value any = arith::OrIOp::create(b.b, b.loc, asIs, other);
  return {asIs, arith::XOrIOp::create(b.b, b.loc, any, asIs),
          arith::XOrIOp::create(b.b, b.loc, any, number(1))};
}

// Writes each group behind the end of every list, but lengthens only the list
// of the group's kind. Each list has room for all groups of the run.
void PairLists::sort(IndexBuilder &b, const PairColumns &columns,
                     Index distance) const {
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(0));
  int64_t group = 4;
  forEach(b, 0, runs, 1, [&](Value run) {
    Index listsAt = b.mul(Index(run), kKinds * groupsOfRun());
    auto addGroup = [&](Index tap, Index inTap, const Accumulators &before) {
      Index inRun = b.add(b.mul(tap, groupsOfTap), inTap);
      Index from =
          b.add(columns.at, b.add(b.mul(Index(run), groupsOfRun()), inRun));
      Value statement =
          memref::LoadOp::create(b.b, b.loc, columns.pairs, b.get(from));
      Value number = toNumber(b, inRun);
      Value element =
          toNumber(b, b.add(b.mul(tap, distance), b.mul(inTap, group)));
      Accumulators next,
          kinds = kindsOf(b, statement, columns.first, columns.count);
      for (int64_t kind = 0; kind < kKinds; ++kind) {
        Index count = Index(Value(arith::IndexCastOp::create(
            b.b, b.loc, b.b.getIndexType(), before[kind])));
        Index to =
            b.mul(b.add(b.add(listsAt, kind * groupsOfRun()), count), kEntry);
        memref::StoreOp::create(b.b, b.loc, number, entries, b.get(to));
        memref::StoreOp::create(b.b, b.loc, element, entries,
                                b.get(b.add(to, 1)));
        next.push_back(
            arith::AddIOp::create(b.b, b.loc, before[kind], kinds[kind]));
      }
      return next;
    };
    Accumulators sizes = forEach(
        b, 0, taps, Accumulators(kKinds, zero),
        [&](Value tap, const Accumulators &before) {
          return forEach(b, 0, groupsOfTap, before,
                         [&](Value inTap, const Accumulators &before) {
                           return addGroup(Index(tap), Index(inTap), before);
                         });
        });
    for (int64_t kind = 0; kind < kKinds; ++kind)
      memref::StoreOp::create(b.b, b.loc, sizes[kind], counts,
                              b.get(b.add(b.mul(Index(run), kKinds), kind)));
  });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Swaps the second and the third byte of each group.
static Value cross(IndexBuilder &b, Value bytes) {
  constexpr int8_t kPlaces[] = {0, 2, 1, 3};
  auto type = cast<VectorType>(bytes.getType());
  SmallVector<int8_t> places;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    // Uses indices within 16 bytes, as the instruction requires.
    places.push_back(int8_t(i % 16 / 4 * 4 + kPlaces[i % 4]));
  Value constant = arith::ConstantOp::create(
      b.b, b.loc, DenseElementsAttr::get(type, ArrayRef<int8_t>(places)));
  return callOfWidth(b,
                     {"llvm.x86.ssse3.pshuf.b.128", "llvm.x86.avx2.pshuf.b",
                      "llvm.x86.avx512.pshuf.b.512"},
                     8, {bytes, constant});
}

/// Adds the products of one group of the given kind.
static Accumulators addGroup(IndexBuilder &b, const TileWeights &weights,
                             const SrcRows &rows, Index element, int64_t kind,
                             const Accumulators &before) {
  const Tile &tile = weights.tile;
  int64_t bytes = tile.lanes * 4;
  auto type = VectorType::get({bytes}, b.b.getI8Type());
  TargetInfo target = targetOf(b);
  // Computes the distance as if all groups in between had the same kind. The
  // distance of a prefetch need not be exact.
  int64_t ahead = target.prefetch_steps * weights.panel * 4;
  bool isWide = kind == kKinds - 1;
  // The parts of each vector of weights.
  SmallVector<SmallVector<Value>> factors;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Index at = b.add(weights.at, v * bytes);
    Value loaded =
        vector::LoadOp::create(b.b, b.loc, type, weights.data, b.get(at));
    prefetch(b, weights.data, b.add(at, ahead));
    if (isWide)
      factors.push_back({widenBytes(b, loaded, 0), widenBytes(b, loaded, 1)});
    else
      factors.push_back({kind == 0 ? loaded : cross(b, loaded)});
  }
  Accumulators sums = before;
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value word = loadGroup(b, rows.dataOf[r], b.add(*rows.at[r], element), 4);
    Value four = splat(b, tile.lanes, word);
    SmallVector<Value> parts;
    if (isWide) {
      Value pairs = asInt16(b, four);
      auto words = cast<VectorType>(pairs.getType());
      parts = {
          arith::AndIOp::create(b.b, b.loc, pairs, splatInt(b, words, 0xff)),
          arith::ShRUIOp::create(b.b, b.loc, pairs, splatInt(b, words, 8))};
    } else {
      four = vector::BitCastOp::create(b.b, b.loc, type, four);
      parts = {kind == 0 ? four : cross(b, four)};
    }
    for (auto [i, part] : llvm::enumerate(parts))
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = sums[r * tile.vectors + v];
        sum = isWide ? addInt16(b, part, factors[v][i], sum)
                     : addPairs(b, part, factors[v][i], sum);
      }
  }
  return sums;
}

namespace {
struct Int8Pairs final : ProductKernel {
  Accumulators multiplyRows(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t,
                            const Accumulators &start,
                            const NextWeights &) const override;
};
} // namespace

const ProductKernel &cpu::int8PairsKernel() {
  static const Int8Pairs kernel;
  return kernel;
}

/// Multiplies the run of rows that the lists of the weights describe.
Accumulators Int8Pairs::multiplyRows(IndexBuilder &b,
                                     const TileWeights &weights,
                                     const SrcRows &rows, int64_t,
                                     const Accumulators &start,
                                     const NextWeights &) const {
  assert(weights.lists && "groups are sorted first");
  const PairLists &lists = *weights.lists;
  Accumulators sums = start;
  for (int64_t kind = 0; kind < kKinds; ++kind) {
    Index list = b.add(b.mul(weights.run, kKinds), kind);
    Index entriesAt = b.mul(list, lists.groupsOfRun() * kEntry);
    Index count = loadNumber(b, lists.counts, list);
    sums = forEach(b, 0, count, sums, [&](Value i, const Accumulators &before) {
      Index entry = b.add(entriesAt, b.mul(Index(i), kEntry));
      Index number = loadNumber(b, lists.entries, entry);
      Index element = loadNumber(b, lists.entries, b.add(entry, 1));
      TileWeights group = weights;
      group.at = b.add(weights.at, b.mul(number, weights.panel * 4));
      return addGroup(b, group, rows, element, kind, before);
    });
  }
  return sums;
}
