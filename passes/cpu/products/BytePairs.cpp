//===- BytePairs.cpp - products of bytes without VNNI ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/BytePairs.h"

#include "dialects/cpu/PackedWeights.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// The vector of the same bits with elements of so many.
static Value withElements(IndexBuilder &b, Value vector, int64_t bits) {
  return vector::BitCastOp::create(
      b.b, b.loc,
      VectorType::get({bytesOf(vector) * 8 / bits}, b.b.getIntegerType(bits)),
      vector);
}

Value cpu::callOfWidth(IndexBuilder &b, ArrayRef<StringRef> names, int64_t bits,
                       ValueRange arguments) {
  int64_t bytes = bytesOf(arguments[0]);
  auto type = VectorType::get({bytes * 8 / bits}, b.b.getIntegerType(bits));
  return LLVM::CallIntrinsicOp::create(
             b.b, b.loc, type,
             b.b.getStringAttr(names[llvm::Log2_64(bytes / 16)]), arguments)
      .getResults();
}

Value cpu::asWords(IndexBuilder &b, Value integers) {
  return withElements(b, integers, 16);
}

Value cpu::multiplyPairs(IndexBuilder &b, Value x, Value y) {
  return callOfWidth(b,
                     {"llvm.x86.sse2.pmadd.wd", "llvm.x86.avx2.pmadd.wd",
                      "llvm.x86.avx512.pmaddw.d.512"},
                     32, {x, y});
}

Value cpu::widenBytes(IndexBuilder &b, Value bytes, int64_t i) {
  Value pairs = withElements(b, bytes, 16);
  Value eight = splatInt(b, cast<VectorType>(pairs.getType()), 8);
  if (i == 0)
    pairs = arith::ShLIOp::create(b.b, b.loc, pairs, eight);
  return arith::ShRSIOp::create(b.b, b.loc, pairs, eight);
}

Value cpu::addWords(IndexBuilder &b, Value row, Value weights, Value sum) {
  return arith::AddIOp::create(b.b, b.loc, sum,
                               multiplyPairs(b, row, weights));
}

Value cpu::multiplyBytes(IndexBuilder &b, Value x, Value y) {
  return callOfWidth(
      b,
      {"llvm.x86.ssse3.pmadd.ub.sw.128", "llvm.x86.avx2.pmadd.ub.sw",
       "llvm.x86.avx512.pmaddubs.w.512"},
      16, {x, y});
}

Value cpu::addPairs(IndexBuilder &b, Value row, Value weights, Value sum) {
  Value words = multiplyBytes(b, row, weights);
  Value ones = splatInt(b, cast<VectorType>(words.getType()), 1);
  return addWords(b, words, ones, sum);
}

/// The second and the third byte of each group change places.
static Value cross(IndexBuilder &b, Value bytes) {
  constexpr int8_t kPlaces[] = {0, 2, 1, 3};
  SmallVector<int8_t> places;
  for (int64_t i = 0; i < bytesOf(bytes); ++i)
    // Within 16 bytes, as the instruction counts.
    places.push_back(int8_t(i % 16 / 4 * 4 + kPlaces[i % 4]));
  Value constant = arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(cast<VectorType>(bytes.getType()),
                             ArrayRef<int8_t>(places)));
  return callOfWidth(b,
                     {"llvm.x86.ssse3.pshuf.b.128", "llvm.x86.avx2.pshuf.b",
                      "llvm.x86.avx512.pshuf.b.512"},
                     8, {bytes, constant});
}

//===----------------------------------------------------------------------===//
// Weights as words
//===----------------------------------------------------------------------===//

// They stay in the second-level cache, and go on the stack.
static constexpr int64_t kMostWideBytes = 64 << 10;
// Widening takes as long as multiplying with two rows, and saves three
// instructions for the 8 and more of a tile.
static constexpr int64_t kLeastWideRows = 40;

bool WideWeights::pays(int64_t groups, int64_t columns, int64_t rows) {
  return groups * columns * 8 <= kMostWideBytes && rows >= kLeastWideRows;
}

WideWeights::WideWeights(IndexBuilder &b, Operation *op, int64_t groups,
                         int64_t columns)
    : words(createScratch(b, op, groups * columns * 4, b.b.getI16Type())),
      groups(groups) {}

int64_t WideWeights::oddAt(Value words) {
  return cast<MemRefType>(words.getType()).getNumElements() / 2;
}

void WideWeights::fill(IndexBuilder &b, const Tile &tile, Value weights,
                       Index from, int64_t panel) const {
  int64_t elements = tile.lanes * 4;
  auto type = VectorType::get({elements}, b.b.getI8Type());
  forEach(b, 0, groups, 1, [&](Value group) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Index at = b.add(from, b.add(b.mul(Index(group), panel * 4),
                                   v * elements));
      Value bytes =
          vector::LoadOp::create(b.b, b.loc, type, weights, b.get(at));
      Index to =
          b.mul(b.add(b.mul(Index(group), tile.vectors), v), elements / 2);
      for (int64_t i = 0; i < 2; ++i)
        vector::StoreOp::create(b.b, b.loc, widenBytes(b, bytes, i), words,
                                b.get(b.add(to, i * oddAt(words))));
    }
  });
}

// All even bytes, then all odd ones: registers hold one part of the weights.
// Where both lay side by side LLVM loaded them together, and kept one of ten
// sums on the stack: each step waited for the one before to be stored.
void cpu::addWideWeights(IndexBuilder &b, const Tile &tile, const SrcRows &rows,
                         Value words, Index from, Index group,
                         MutableArrayRef<Value> sums) {
  auto type = VectorType::get({tile.lanes * 2}, b.b.getI16Type());
  auto whole = VectorType::get({tile.lanes}, b.b.getI32Type());
  for (int64_t i = 0; i < 2; ++i) {
    SmallVector<Value> factors;
    for (int64_t v = 0; v < tile.vectors; ++v)
      factors.push_back(vector::LoadOp::create(
          b.b, b.loc, type, words,
          b.get(b.add(from, v * tile.lanes * 2 +
                                i * WideWeights::oddAt(words)))));
    for (int64_t r = 0; r < tile.rows; ++r) {
      if (!rows.at[r])
        continue;
      Value pair = memref::LoadOp::create(
          b.b, b.loc, rows.dataOf[r],
          b.get(b.add(b.add(*rows.at[r], group), i * *rows.odd)));
      Value row = asWords(
          b, vector::BroadcastOp::create(b.b, b.loc, whole, pair));
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = sums[r * tile.vectors + v];
        sum = addWords(b, row, factors[v], sum);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// As they are, crossed, widened first.
static constexpr int64_t kKinds = 3;
/// Numbers of an entry.
static constexpr int64_t kEntry = 2;

PairLists::PairLists(IndexBuilder &b, Operation *op, int64_t runs,
                     int64_t taps, int64_t groupsOfTap)
    : runs(runs), taps(taps), groupsOfTap(groupsOfTap) {
  Type number = b.b.getI32Type();
  entries =
      createScratch(b, op, runs * kKinds * groupsOfRun() * kEntry, number);
  counts = createScratch(b, op, runs * kKinds, number);
}

static Value toNumber(IndexBuilder &b, Index index) {
  return arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(),
                                    b.get(index));
}

static Index loadNumber(IndexBuilder &b, Value numbers, Index at) {
  Value number = memref::LoadOp::create(b.b, b.loc, numbers, b.get(at));
  return Index(Value(arith::IndexCastOp::create(b.b, b.loc,
                                                b.b.getIndexType(), number)));
}

/// 1 where a group is of a kind, else 0, for each kind.
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
  Value other = arith::AndIOp::create(b.b, b.loc, shift(said, number(1)),
                                      number(1));
  Value any = arith::OrIOp::create(b.b, b.loc, asIs, other);
  return {asIs, arith::XOrIOp::create(b.b, b.loc, any, asIs),
          arith::XOrIOp::create(b.b, b.loc, any, number(1))};
}

// Each group is written to the ends of all lists, of which one grows: the run
// has at least as much room as there are groups.
void PairLists::sort(IndexBuilder &b, Value pairs, Index at, Index first,
                     int64_t columns, Index distance) const {
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(0));
  int64_t group = 4;
  forEach(b, 0, runs, 1, [&](Value run) {
    Index listsAt = b.mul(Index(run), kKinds * groupsOfRun());
    auto addGroup = [&](Index tap, Index inTap, const Accumulators &before) {
      Index inRun = b.add(b.mul(tap, groupsOfTap), inTap);
      Index from = b.add(at, b.add(b.mul(Index(run), groupsOfRun()), inRun));
      Value statement =
          memref::LoadOp::create(b.b, b.loc, pairs, b.get(from));
      Value number = toNumber(b, inRun);
      Value element =
          toNumber(b, b.add(b.mul(tap, distance), b.mul(inTap, group)));
      Accumulators next, kinds = kindsOf(b, statement, first, columns);
      for (int64_t kind = 0; kind < kKinds; ++kind) {
        Index count = Index(Value(arith::IndexCastOp::create(
            b.b, b.loc, b.b.getIndexType(), before[kind])));
        Index to = b.mul(
            b.add(b.add(listsAt, kind * groupsOfRun()), count), kEntry);
        memref::StoreOp::create(b.b, b.loc, number, entries, b.get(to));
        memref::StoreOp::create(b.b, b.loc, element, entries,
                                b.get(b.add(to, 1)));
        next.push_back(arith::AddIOp::create(b.b, b.loc, before[kind],
                                             kinds[kind]));
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

/// The products of one group, of a kind.
static Accumulators addGroup(IndexBuilder &b, const Tile &tile,
                             const SrcRows &rows, Value weights,
                             Index weightsAt, int64_t panel, Index element,
                             int64_t kind, const Accumulators &before) {
  int64_t bytes = tile.lanes * 4;
  auto type = VectorType::get({bytes}, b.b.getI8Type());
  TargetInfo target = targetOf(b);
  // As many groups of all kinds are passed over until a list's next ones.
  int64_t ahead = target.prefetch_steps * panel * 4;
  bool isWide = kind == kKinds - 1;
  // The parts of each vector of weights.
  SmallVector<SmallVector<Value>> factors;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Index at = b.add(weightsAt, v * bytes);
    Value loaded =
        vector::LoadOp::create(b.b, b.loc, type, weights, b.get(at));
    prefetch(b, weights, b.add(at, ahead));
    if (isWide)
      factors.push_back({widenBytes(b, loaded, 0), widenBytes(b, loaded, 1)});
    else
      factors.push_back({kind == 0 ? loaded : cross(b, loaded)});
  }
  Accumulators sums = before;
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value word =
        loadGroup(b, rows.dataOf[r], b.add(*rows.at[r], element), 4);
    Value four = vector::BroadcastOp::create(
        b.b, b.loc, VectorType::get({tile.lanes}, word.getType()), word);
    SmallVector<Value> parts;
    if (isWide) {
      Value pairs = withElements(b, four, 16);
      auto words = cast<VectorType>(pairs.getType());
      parts = {arith::AndIOp::create(b.b, b.loc, pairs,
                                     splatInt(b, words, 0xff)),
               arith::ShRUIOp::create(b.b, b.loc, pairs,
                                      splatInt(b, words, 8))};
    } else {
      four = withElements(b, four, 8);
      parts = {kind == 0 ? four : cross(b, four)};
    }
    for (auto [i, part] : llvm::enumerate(parts))
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = sums[r * tile.vectors + v];
        sum = isWide ? addWords(b, part, factors[v][i], sum)
                     : addPairs(b, part, factors[v][i], sum);
      }
  }
  return sums;
}

Accumulators cpu::multiplyAddPairs(IndexBuilder &b, const Tile &tile,
                                   const SrcRows &rows, Value weights,
                                   Index weightsAt, int64_t panel,
                                   const PairLists &lists, Index run,
                                   const Accumulators &start) {
  Accumulators sums = start;
  for (int64_t kind = 0; kind < kKinds; ++kind) {
    Index list = b.add(b.mul(run, kKinds), kind);
    Index entriesAt = b.mul(list, lists.groupsOfRun() * kEntry);
    Index count = loadNumber(b, lists.counts, list);
    sums = forEach(b, 0, count, sums,
                   [&](Value i, const Accumulators &before) {
                     Index entry = b.add(entriesAt, b.mul(Index(i), kEntry));
                     Index number = loadNumber(b, lists.entries, entry);
                     Index element =
                         loadNumber(b, lists.entries, b.add(entry, 1));
                     return addGroup(
                         b, tile, rows, weights,
                         b.add(weightsAt, b.mul(number, panel * 4)), panel,
                         element, kind, before);
                   });
  }
  return sums;
}
