//===- Products.cpp - sums of products in registers -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/BytePairs.h"
#include "passes/cpu/products/WidenedWeights.h"

#include "dialects/cpu/PackedWeights.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// One step of k
//===----------------------------------------------------------------------===//

/// Whether weights are bytes as words already: see WideWeights.
static bool areWords(const Tile &tile, Value weights) {
  return tile.product == Product::int8Wide &&
         getElementTypeOrSelf(weights).isInteger(16);
}

/// The elements that one step of k takes.
static int64_t groupOf(const Tile &tile, Value weights) {
  if (tile.product == Product::f16Wide)
    return 1;
  return areWords(tile, weights) ? 4
                                 : cpu::groupOf(getElementTypeOrSelf(weights));
}

Value cpu::loadGroup(IndexBuilder &b, Value data, Index at, int64_t count) {
  Type element = getElementTypeOrSelf(data), word = b.b.getI32Type();
  int64_t group = cpu::groupOf(element);
  if (count == group) {
    Value loaded = vector::LoadOp::create(
        b.b, b.loc, VectorType::get({group}, element), data, b.get(at));
    Value whole = vector::BitCastOp::create(b.b, b.loc,
                                            VectorType::get({1}, word), loaded);
    return vector::ExtractOp::create(b.b, b.loc, whole, 0);
  }
  int64_t bits = element.getIntOrFloatBitWidth();
  Value sum;
  for (int64_t i = 0; i < count; ++i) {
    Value part =
        memref::LoadOp::create(b.b, b.loc, data, b.get(b.add(at, i)));
    if (!element.isInteger())
      part = arith::BitcastOp::create(b.b, b.loc, b.b.getIntegerType(bits),
                                      part);
    part = arith::ExtUIOp::create(b.b, b.loc, word, part);
    if (i)
      part = arith::ShLIOp::create(
          b.b, b.loc, part,
          arith::ConstantOp::create(b.b, b.loc,
                                    b.b.getI32IntegerAttr(i * bits)));
    sum = sum ? arith::OrIOp::create(b.b, b.loc, sum, part).getResult() : part;
  }
  return sum;
}

/// What one step takes of a row: the group at `data[at]`, of which `count`
/// elements are within the row, in every lane; in the parts that are multiplied
/// one after the other. `odd` is that of copies as words.
static SmallVector<Value> rowParts(IndexBuilder &b, const Tile &tile,
                                   Value data, Index at, int64_t odd,
                                   int64_t count) {
  auto broadcast = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(
        b.b, b.loc, VectorType::get({tile.lanes}, scalar.getType()), scalar);
  };
  if (tile.product == Product::f32 || tile.product == Product::f16Wide ||
      tile.product == Product::bf16Wide) {
    SmallVector<Value> parts;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(broadcast(
          memref::LoadOp::create(b.b, b.loc, data, b.get(b.add(at, i)))));
    return parts;
  }
  auto as = [&](Value word, int64_t perLane, Type element) -> Value {
    return vector::BitCastOp::create(
        b.b, b.loc, VectorType::get({tile.lanes * perLane}, element),
        broadcast(word));
  };
  if (tile.product == Product::int8Wide) {
    auto load = [&](Index at) -> Value {
      return as(memref::LoadOp::create(b.b, b.loc, data, b.get(at)), 2,
                b.b.getI16Type());
    };
    return {load(at), load(b.add(at, odd))};
  }
  Type element = getElementTypeOrSelf(data);
  return {as(loadGroup(b, data, at, count), cpu::groupOf(element), element)};
}

/// Part `i` of a vector of weights, to go with part `i` of a row.
static Value weightPart(IndexBuilder &b, const Tile &tile, Value weights,
                        int64_t i) {
  auto as = [&](int64_t perLane, Type element) -> Value {
    return vector::BitCastOp::create(
        b.b, b.loc, VectorType::get({tile.lanes * perLane}, element), weights);
  };
  if (tile.product == Product::bf16Wide)
    return widenHalf(b, as(1, b.b.getI32Type()), i);
  if (tile.product == Product::f16Wide)
    return widenWeights(b, tile.hasFMA, weights);
  if (tile.product == Product::int8Wide)
    return widenBytes(b, weights, i);
  return weights;
}

/// sum + row * weights, the products of a group added up.
static Value addProducts(IndexBuilder &b, const Tile &tile, Value row,
                         Value weights, Value sum) {
  switch (tile.product) {
  case Product::f32:
  case Product::f16Wide:
  case Product::bf16Wide:
    return multiplyAddVectors(b, tile.hasFMA, row, weights, sum);
  case Product::f16Dot:
    return vector::FMAOp::create(b.b, b.loc, row, weights, sum);
  case Product::bf16Dot:
    return x86vector::DotBF16Op::create(b.b, b.loc, sum.getType(), sum, row,
                                        weights);
  case Product::int8Dot:
    return multiplyAddFours(b, row, weights, sum);
  case Product::int8Wide:
  case Product::int16Dot:
    return addWords(b, row, weights, sum);
  case Product::bf16Tiles:
  case Product::int8Tiles:
  case Product::int8Pairs:
  case Product::signs:
    break;
  }
  llvm_unreachable("a product of vectors");
}

//===----------------------------------------------------------------------===//
// Loops over k
//===----------------------------------------------------------------------===//

/// Called with the first of some steps of k, and how many they are: what else
/// to do meanwhile.
using Meanwhile = function_ref<void(Value k, int64_t steps)>;

/// Step k of a product: of its group the products of `count` elements.
static void multiplyAddStep(IndexBuilder &b, const Tile &tile,
                            const SrcRows &rows, Value weights, Index weightsAt,
                            int64_t panel, Value k, int64_t count,
                            MutableArrayRef<Value> sums) {
  int64_t group = ::groupOf(tile, weights);
  auto type = VectorType::get({tile.lanes * group},
                              getElementTypeOrSelf(weights));
  Index from = b.add(weightsAt, b.mul(Index(k), panel * group));
  if (areWords(tile, weights))
    return addWideWeights(b, tile, rows, weights, from, Index(k), sums);
  // Weights come from the second-level cache, whose latency this covers.
  TargetInfo target = targetOf(b);
  int64_t ahead = target.prefetch_steps * panel * group;
  int64_t vectorsOfLine = std::max<int64_t>(
      1, target.line * 8 / (tile.lanes * group *
                            getElementTypeOrSelf(weights)
                                .getIntOrFloatBitWidth()));
  SmallVector<Value> factors;
  // Of each vector of weights, the parts that rows needed.
  SmallVector<SmallVector<Value>> parts(tile.vectors);
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Index at = b.add(from, v * tile.lanes * group);
    factors.push_back(
        vector::LoadOp::create(b.b, b.loc, type, weights, b.get(at)));
    // Vectors that share a line need it once.
    if (v % vectorsOfLine == 0)
      prefetch(b, weights, b.add(at, ahead));
  }
  if (const std::optional<KeptWeights> &kept = tile.kept) {
    Index at = b.div(b.sub(from, kept->from), kept->share);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      parts[v].push_back(weightPart(b, tile, factors[v], 0));
      vector::StoreOp::create(b.b, b.loc, parts[v][0], kept->data,
                              b.get(b.add(at, v * tile.lanes)));
    }
  }
  int64_t perStep = rows.odd ? 1 : group * rows.step;
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (!rows.at[r])
      continue;
    SmallVector<Value> row = rowParts(
        b, tile, rows.dataOf[r], b.add(*rows.at[r], b.mul(Index(k), perStep)),
        rows.odd.value_or(0), count);
    for (auto [i, part] : llvm::enumerate(row))
      for (int64_t v = 0; v < tile.vectors; ++v) {
        if (parts[v].size() == i)
          parts[v].push_back(weightPart(b, tile, factors[v], i));
        Value &sum = sums[r * tile.vectors + v];
        sum = addProducts(b, tile, part, parts[v][i], sum);
      }
  }
}

Value cpu::addSums(IndexBuilder &b, Value x, Value y) {
  if (getElementTypeOrSelf(x).isInteger())
    return arith::AddIOp::create(b.b, b.loc, x, y);
  return arith::AddFOp::create(b.b, b.loc, x, y);
}

// A few rows, a vector times a matrix: every steps-th k has accumulators of its
// own. How many depends on the rows, not on the tile's vectors: all columns are
// summed in one order, so that equal ones have equal sums. One row has up to
// four vectors, and 16 registers hold two sets of them.
int64_t cpu::sumsBeside(const TargetInfo &target, const Tile &tile,
                        int64_t width) {
  int64_t fullVectors = tile.rows == 1 && target.numRegisters != 32 ? 4 : 2;
  fullVectors = std::min(fullVectors, width / target.lanes);
  return std::max<int64_t>(1,
                           target.sumsInFlight() / (tile.rows * fullVectors));
}

void cpu::addUp(IndexBuilder &b, Accumulators &sums, int64_t steps) {
  int64_t count = sums.size() / steps;
  for (; steps > 1; steps = llvm::divideCeil(steps, 2)) {
    int64_t kept = llvm::divideCeil(steps, 2) * count;
    for (int64_t i = kept; i < steps * count; ++i)
      sums[i - kept] = addSums(b, sums[i - kept], sums[i]);
    sums.resize(kept);
  }
}

/// Steps of k that a round of the loop takes if all add to the same sums. A
/// step of 12 short vectors is 20 instructions of arithmetic and loads beside
/// 11 that count, find addresses and prefetch, of which 3 are left for each.
/// Where there are 32 registers a step has twice as much to do, and one of
/// bytes as words three times as much.
static constexpr int64_t kUnrolled = 4;
static bool isUnrolled(const TargetInfo &target, const Tile &tile,
                       ArrayRef<Value> sums, int64_t steps) {
  constexpr size_t kManySums = 8;
  return target.numRegisters == 16 && sums.size() >= kManySums &&
         (getElementTypeOrSelf(sums.front()).isFloat() ||
          tile.product == Product::int8Dot ||
          tile.product == Product::int16Dot) &&
         steps >= 4 * kUnrolled;
}

/// Adds to `start`; `zeros` are as many sums of nothing.
static Accumulators addGroups(IndexBuilder &b, const Tile &tile,
                              const SrcRows &rows, Value weights,
                              Index weightsAt, int64_t panel, int64_t depth,
                              const Accumulators &start,
                              const Accumulators &zeros, Meanwhile meanwhile) {
  int64_t group = ::groupOf(tile, weights), groups = depth / group;
  TargetInfo target = targetOf(b);
  constexpr int64_t kWidest = 64;
  int64_t count = start.size(), beside = sumsBeside(target, tile, kWidest);
  if (groups < 4 * beside)
    beside = 1;
  const bool isLong = beside == 1 && isUnrolled(target, tile, start, groups);
  const int64_t steps = isLong ? kUnrolled : beside;
  const bool isPart = target.wordsOfLine() % steps == 0;
  auto step = [&](Value k, int64_t elements, MutableArrayRef<Value> sums) {
    multiplyAddStep(b, tile, rows, weights, weightsAt, panel, k, elements,
                    sums);
  };
  int64_t whole = groups - groups % steps;
  Accumulators sums = start;
  for (int64_t i = 1; i < beside; ++i)
    llvm::append_range(sums, zeros);
  if (groups != 0)
    sums = forEach(b, 0, whole / steps, sums,
                   [&](Value block, const Accumulators &before) {
                     Accumulators next = before;
                     Index first = b.mul(Index(block), steps);
                     if (isPart)
                       meanwhile(b.get(first), steps);
                     for (int64_t i = 0; i < steps; ++i) {
                       Value k = b.get(b.add(first, i));
                       if (!isPart)
                         meanwhile(k, 1);
                       step(k, group, MutableArrayRef(next).slice(
                                          i % beside * count, count));
                     }
                     return next;
                   });
  addUp(b, sums, beside);
  for (int64_t k = whole; k < groups; ++k)
    step(b.get(k), group, sums);
  if (depth % group != 0)
    step(b.get(groups), depth % group, sums);
  return sums;
}

/// A few products as f16 at a time, then as f32.
static Accumulators addHalfBlocks(IndexBuilder &b, const Tile &tile,
                                  const SrcRows &rows, Value weights,
                                  Index weightsAt, int64_t panel,
                                  int64_t depth, const Accumulators &start,
                                  Meanwhile meanwhile) {
  // Even blocks: a last one of few products would cost as much as others.
  int64_t blocks = llvm::divideCeil(depth, cpu::kHalfTerms);
  int64_t size = llvm::alignTo(llvm::divideCeil(depth, blocks), 2);
  return forEachBlock(
      b, depth, size, start,
      [&](Index from, int64_t size, const Accumulators &sums) {
        SrcRows block = rows;
        for (std::optional<Index> &at : block.at)
          if (at)
            at = b.add(*at, from);
        Accumulators zeros = zeroHalves(b, tile);
        Index step = b.div(from, 2);
        Accumulators halves = addGroups(
            b, tile, block, weights, b.add(weightsAt, b.mul(from, panel)),
            panel, size, zeros, zeros,
            [&](Value k, int64_t steps) {
              meanwhile(b.get(b.add(step, Index(k))), steps);
            });
        return addHalves(b, tile, block, halves, sums);
      });
}

static Accumulators multiplyAdd(IndexBuilder &b, const Tile &tile,
                                const SrcRows &rows, Value weights,
                                Index weightsAt, int64_t panel, int64_t depth,
                                const Accumulators &start,
                                Meanwhile meanwhile) {
  if (tile.product == Product::f16Dot)
    return addHalfBlocks(b, tile, rows, weights, weightsAt, panel, depth, start,
                         meanwhile);
  return addGroups(b, tile, rows, weights, weightsAt, panel, depth, start,
                   zeroAccumulators(b, tile), meanwhile);
}

Accumulators cpu::multiplyAdd(IndexBuilder &b, const Tile &tile,
                              const SrcRows &rows, Value weights,
                              Index weightsAt, int64_t panel, int64_t depth,
                              const Accumulators &start,
                              const NextWeights &next) {
  int64_t width = panel * ::groupOf(tile, weights);
  return ::multiplyAdd(b, tile, rows, weights, weightsAt, panel, depth, start,
                       [&](Value k, int64_t steps) {
                         prefetchNext(b, next, width, k, steps);
                       });
}

//===----------------------------------------------------------------------===//
// Rows as they are or over copies
//===----------------------------------------------------------------------===//

/// Groups that are copied of a row at a time: 14 rows of them then take less
/// than half of the first-level cache.
static int64_t groupsCopied(const TargetInfo &target) {
  return std::max<int64_t>(llvm::alignDown(target.l1 / 128, 32), 32);
}

/// Over copies of the rows as words.
static Accumulators multiplyAddWords(IndexBuilder &b, const Tile &tile,
                                     const SrcRows &rows, Value weights,
                                     Index weightsAt, int64_t panel,
                                     int64_t depth, const Accumulators &start,
                                     Operation *op, const NextWeights &next) {
  TargetInfo target = targetOf(b);
  int64_t group = ::groupOf(tile, weights);
  int64_t most = groupsCopied(target) / 2 * group;
  int64_t size = copiedAtOnce(depth, most, group);
  // The copies are a cache line more than their length apart.
  int64_t pitch = llvm::divideCeil(size, group) + target.wordsOfLine();
  Value scratch = createScratch(b, op, tile.rows * 2 * pitch, b.b.getI32Type());
  SrcRows copies(b, scratch, 0, 2 * pitch, tile.rows);
  copies.odd = pitch;
  auto addBlock = [&](Index from, int64_t size, const Accumulators &sums) {
    // A loop: unrolled, it would be more code than the products.
    forEach(b, 0, tile.rows, 1, [&](Value row) {
      Index source = b.add(b.add(*rows.at[0], b.mul(rows.stride, Index(row))),
                           from);
      copyAsWords(b, tile.lanes, rows.data, source, scratch,
                  b.mul(Index(row), 2 * pitch), pitch, size);
    });
    return cpu::multiplyAdd(b, tile, copies, weights,
                            b.add(weightsAt, b.mul(from, panel)), panel, size,
                            sums, next.from(b, b.mul(from, panel)));
  };
  return forEachBlock(b, depth, size, start, addBlock);
}

Accumulators cpu::multiplyAddWhole(IndexBuilder &b, const Tile &tile,
                                   const SrcRows &rows, Value weights,
                                   Index weightsAt, int64_t panel,
                                   int64_t depth, const Accumulators &start,
                                   Operation *op, const NextWeights &next) {
  if (tile.product == Product::int8Wide)
    return multiplyAddWords(b, tile, rows, weights, weightsAt, panel, depth,
                            start, op, next);
  int64_t group = ::groupOf(tile, weights);
  bool isWidened = tile.product == Product::bf16Wide;
  Type rowElement = getElementTypeOrSelf(rows.data);
  int64_t rowDistance =
      rows.stride.constant * rowElement.getIntOrFloatBitWidth() / 8;
  // Such rows all fall into the same set of the first-level cache, which holds
  // 8 to 12 lines. What is prefetched early goes to the second level,
  // therefore.
  TargetInfo target = targetOf(b);
  int64_t words = target.wordsOfLine();
  bool collides = !rows.stride.value && tile.rows > 8 &&
                  rowDistance % target.set_stride == 0;
  // As many elements are in four bytes of a copy.
  int64_t perWord = isWidened ? 1 : group;
  int64_t most = groupsCopied(target) * perWord, lanes = tile.lanes * perWord;
  if (!isWidened && (!collides || depth % most != 0)) {
    // Short rows are there before prefetching starts to help.
    bool isLong = depth >= 8 * words * group;
    return ::multiplyAdd(b, tile, rows, weights, weightsAt, panel, depth, start,
                         [&](Value k, int64_t steps) {
                           if (isLong)
                             prefetchRows(b, rows, group, k, steps, 2 * words);
                           prefetchNext(b, next, panel * group, k, steps);
                         });
  }
  int64_t size = copiedAtOnce(depth, most, group);
  // The copies are a cache line more than their length apart.
  int64_t pitch = llvm::alignTo(size, lanes) + words * perWord;
  Type element = isWidened ? Type(b.b.getF32Type()) : rowElement;
  // The cache holds half of the rows as they are.
  int64_t direct = isWidened ? 0 : tile.rows / 2;
  Value scratch = createScratch(b, op, (tile.rows - direct) * pitch, element);
  SrcRows copies(b, scratch, -direct * pitch, pitch, tile.rows);
  auto addBlock = [&](Index from, int64_t size, const Accumulators &sums) {
    SrcRows block = rows;
    SmallVector<Index> sources, targets;
    for (auto [source, copy] : llvm::zip_equal(block.at, copies.at)) {
      source = b.add(*source, from);
      sources.push_back(*source);
      targets.push_back(*copy);
    }
    copyRuns(b, lanes, rows.data, ArrayRef(sources).drop_front(direct),
             scratch, ArrayRef(targets).drop_front(direct), size);
    SrcRows used = copies;
    used.dataOf.assign(tile.rows, scratch);
    for (int64_t r = 0; r < direct; ++r) {
      used.dataOf[r] = rows.data;
      used.at[r] = sources[r];
    }
    NextWeights later = next.from(b, b.mul(from, panel));
    return ::multiplyAdd(b, tile, used, weights,
                         b.add(weightsAt, b.mul(from, panel)), panel, size,
                         sums, [&](Value k, int64_t steps) {
                           prefetchRows(b, block, group, k, steps, size / group,
                                        Into::second);
                           prefetchNext(b, later, panel * group, k, steps);
                         });
  };
  return forEachBlock(b, depth, size, start, addBlock);
}
