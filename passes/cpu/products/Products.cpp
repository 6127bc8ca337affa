//===- Products.cpp - sums of products in registers -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/ProductKernel.h"

#include "dialects/cpu/PackedWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

const ProductKernel &ProductKernel::of(Product product) {
  switch (product) {
#define INGOT_PRODUCT(NAME, ...)                                               \
  case Product::NAME:                                                          \
    return NAME##Kernel();
#include "dialects/cpu/Products.inc"
  }
  llvm_unreachable("all products are listed");
}

//===----------------------------------------------------------------------===//
// A step of k
//===----------------------------------------------------------------------===//

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

SmallVector<Value> ProductKernel::prepareRow(IndexBuilder &b, const Tile &tile,
                                             const RowGroup &group) const {
  Type element = getElementTypeOrSelf(group.data);
  auto type = VectorType::get({tile.lanes * cpu::groupOf(element)}, element);
  Value word = loadGroup(b, group.data, group.at, group.count);
  Value part =
      vector::BitCastOp::create(b.b, b.loc, type, splat(b, tile.lanes, word));
  return {part};
}

Value ProductKernel::prepareColumns(IndexBuilder &, const Tile &, Value weights,
                                    int64_t) const {
  return weights;
}

Value ProductKernel::step(IndexBuilder &, const Tile &, Value, Value,
                          Value) const {
  llvm_unreachable("the product does not go step by step");
}

Accumulators ProductKernel::startBlock(IndexBuilder &, const Tile &) const {
  llvm_unreachable("the product has sums of one type");
}

Accumulators ProductKernel::finishBlock(IndexBuilder &, const Tile &,
                                        const SrcRows &, const Accumulators &,
                                        const Accumulators &) const {
  llvm_unreachable("the product has sums of one type");
}

void ProductKernel::multiplyGroup(IndexBuilder &b, const TileWeights &weights,
                                  const SrcRows &rows, Value k, int64_t count,
                                  MutableArrayRef<Value> sums) const {
  const Tile &tile = weights.tile;
  int64_t group = infoOf(tile.product).group;
  Type element = getElementTypeOrSelf(weights.data);
  auto type = VectorType::get({tile.lanes * group}, element);
  Index from = b.add(weights.at, b.mul(Index(k), weights.panel * group));
  // Prefetches weights, because the second-level cache delivers them with a
  // latency.
  TargetInfo target = targetOf(b);
  int64_t ahead = target.prefetch_steps * weights.panel * group;
  int64_t vectorsOfLine = std::max<int64_t>(
      1,
      target.line * 8 / (tile.lanes * group * element.getIntOrFloatBitWidth()));
  SmallVector<Value> factors;
  // For each vector of weights, the parts that rows have used so far.
  SmallVector<SmallVector<Value>> parts(tile.vectors);
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Index at = b.add(from, v * tile.lanes * group);
    factors.push_back(
        vector::LoadOp::create(b.b, b.loc, type, weights.data, b.get(at)));
    // Vectors that share a line need only one prefetch.
    if (v % vectorsOfLine == 0)
      prefetch(b, weights.data, b.add(at, ahead));
  }
  if (const std::optional<KeptWeights> &kept = tile.kept) {
    Index at = b.div(b.sub(from, kept->from), kept->share);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      parts[v].push_back(prepareColumns(b, tile, factors[v], 0));
      vector::StoreOp::create(b.b, b.loc, parts[v][0], kept->data,
                              b.get(b.add(at, v * tile.lanes)));
    }
  }
  int64_t perStep = rows.odd ? 1 : group * rows.step;
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (!rows.at[r])
      continue;
    SmallVector<Value> row = prepareRow(
        b, tile,
        {rows.dataOf[r], b.add(*rows.at[r], b.mul(Index(k), perStep)),
         rows.odd.value_or(0), count});
    for (auto [i, part] : llvm::enumerate(row))
      for (int64_t v = 0; v < tile.vectors; ++v) {
        if (parts[v].size() == i)
          parts[v].push_back(prepareColumns(b, tile, factors[v], i));
        Value &sum = sums[r * tile.vectors + v];
        sum = step(b, tile, part, parts[v][i], sum);
      }
  }
}

//===----------------------------------------------------------------------===//
// Loops over k
//===----------------------------------------------------------------------===//

/// A function that does other work between steps of k. It gets the first of the
/// next steps and their number.
using BetweenSteps = function_ref<void(Value k, int64_t steps)>;

Value cpu::addSums(IndexBuilder &b, Value x, Value y) {
  if (getElementTypeOrSelf(x).isInteger())
    return arith::AddIOp::create(b.b, b.loc, x, y);
  return arith::AddFOp::create(b.b, b.loc, x, y);
}

// Returns the number n of sets of accumulators. With few rows, each set sums
// every n-th k. The number depends on the rows, but not on the tile's vectors.
// So all columns are summed in the same order, and equal columns have equal
// sums.
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

/// The number of steps of k in an iteration of an unrolled loop. All steps add
/// to the same sums. Without unrolling, a step of 12 short vectors needs 20
/// instructions of arithmetic and loads. It needs 11 more to count, address and
/// prefetch; unrolling reduces these to 3. With 32 registers a step does twice
/// as much work. A step of bytes as int16 does three times as much work.
static const int64_t &kUnrolled = cpu::threshold::productSteps;
static bool isUnrolled(const TargetInfo &target, const Tile &tile,
                       ArrayRef<Value> sums, int64_t steps) {
  return target.numRegisters == 16 &&
         int64_t(sums.size()) >= cpu::threshold::productManySums &&
         infoOf(tile.product).rows != RowForm::asInt16 &&
         steps >= cpu::threshold::productRounds * kUnrolled;
}

namespace {
/// The products of `depth` elements of rows by weights.
struct Terms {
  const TileWeights &weights;
  const SrcRows &rows;
  int64_t depth;
};
} // namespace

/// Adds the terms to `start`. A further set of sums starts with `zeros`.
static Accumulators addGroups(IndexBuilder &b, const Terms &terms,
                              const Accumulators &start,
                              const Accumulators &zeros,
                              BetweenSteps meanwhile) {
  const Tile &tile = terms.weights.tile;
  const ProductKernel &kernel = ProductKernel::of(tile.product);
  int64_t group = infoOf(tile.product).group, groups = terms.depth / group;
  TargetInfo target = targetOf(b);
  constexpr int64_t kWidest = 64;
  int64_t count = start.size(), beside = sumsBeside(target, tile, kWidest);
  if (groups < cpu::threshold::productRounds * beside)
    beside = 1;
  const bool isLong = beside == 1 && isUnrolled(target, tile, start, groups);
  const int64_t steps = isLong ? kUnrolled : beside;
  const bool isPart = target.wordsOfLine() % steps == 0;
  auto step = [&](Value k, int64_t elements, MutableArrayRef<Value> sums) {
    kernel.multiplyGroup(b, terms.weights, terms.rows, k, elements, sums);
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
  if (terms.depth % group != 0)
    step(b.get(groups), terms.depth % group, sums);
  return sums;
}

/// Adds blocks of a few products in a narrower type.
static Accumulators addBlocks(IndexBuilder &b, const Terms &terms, int64_t most,
                              const Accumulators &start,
                              BetweenSteps meanwhile) {
  const TileWeights &weights = terms.weights;
  const ProductKernel &kernel = ProductKernel::of(weights.tile.product);
  int64_t group = infoOf(weights.tile.product).group;
  // Makes blocks of equal size, because a last block of few products would cost
  // as much as the others.
  int64_t blocks = llvm::divideCeil(terms.depth, most);
  int64_t size = llvm::alignTo(llvm::divideCeil(terms.depth, blocks), group);
  return forEachBlock(
      b, terms.depth, size, start,
      [&](Index from, int64_t size, const Accumulators &sums) {
        SrcRows block = terms.rows;
        for (std::optional<Index> &at : block.at)
          if (at)
            at = b.add(*at, from);
        Accumulators zeros = kernel.startBlock(b, weights.tile);
        Index step = b.div(from, group);
        TileWeights part = weights.from(b, from);
        Accumulators ofBlock = addGroups(
            b, {part, block, size}, zeros, zeros, [&](Value k, int64_t steps) {
              meanwhile(b.get(b.add(step, Index(k))), steps);
            });
        return kernel.finishBlock(b, weights.tile, block, ofBlock, sums);
      });
}

static Accumulators multiplyAdd(IndexBuilder &b, const Terms &terms,
                                const Accumulators &start,
                                BetweenSteps meanwhile) {
  const Tile &tile = terms.weights.tile;
  if (int64_t most = infoOf(tile.product).block)
    return addBlocks(b, terms, most, start, meanwhile);
  return addGroups(b, terms, start, zeroAccumulators(b, tile), meanwhile);
}

/// Returns the number of weights in a step.
static int64_t widthOf(const TileWeights &weights) {
  return weights.panel * infoOf(weights.tile.product).group;
}

Accumulators cpu::multiplyAdd(IndexBuilder &b, const TileWeights &weights,
                              const SrcRows &rows, int64_t depth,
                              const Accumulators &start,
                              const NextWeights &next) {
  return ::multiplyAdd(b, {weights, rows, depth}, start,
                       [&](Value k, int64_t steps) {
                         prefetchNext(b, next, widthOf(weights), k, steps);
                       });
}

TileWeights TileWeights::from(IndexBuilder &b, Index k) const {
  TileWeights later = *this;
  later.at = b.add(at, b.mul(k, panel));
  return later;
}

//===----------------------------------------------------------------------===//
// Rows that are read in place, and rows that are copied first
//===----------------------------------------------------------------------===//

Accumulators cpu::multiplyAddWhole(IndexBuilder &b, const TileWeights &weights,
                                   const SrcRows &rows, int64_t depth,
                                   const Accumulators &start,
                                   const NextWeights &next) {
  return ProductKernel::of(weights.tile.product)
      .multiplyRows(b, weights, rows, depth, start, next);
}

int64_t cpu::groupsCopied(const TargetInfo &target) {
  return std::max<int64_t>(llvm::alignDown(target.l1 / 128, 32), 32);
}

Accumulators ProductKernel::multiplyRows(IndexBuilder &b,
                                         const TileWeights &weights,
                                         const SrcRows &rows, int64_t depth,
                                         const Accumulators &start,
                                         const NextWeights &next) const {
  int64_t group = infoOf(weights.tile.product).group;
  Type rowElement = getElementTypeOrSelf(rows.data);
  int64_t rowDistance =
      rows.stride.constant * rowElement.getIntOrFloatBitWidth() / 8;
  // Rows collide if their distance is a multiple of `set_stride`. Their lines
  // then fall into one set of the first-level cache, which holds 8 to 12 lines.
  // Early prefetches of such rows therefore go to the second level.
  TargetInfo target = targetOf(b);
  int64_t words = target.wordsOfLine();
  bool collides = !rows.stride.value &&
                  weights.tile.rows > cpu::threshold::linesOfSet(target) &&
                  rowDistance % target.set_stride == 0;
  if (collides && depth % (groupsCopied(target) * group) == 0)
    return multiplyCopies(b, weights, rows, depth, start, next);
  // Prefetches only for long rows. Short rows are loaded before prefetching
  // starts to help.
  bool isLong = depth >= cpu::threshold::prefetchedLines * words * group;
  return ::multiplyAdd(b, {weights, rows, depth}, start,
                       [&](Value k, int64_t steps) {
                         if (isLong)
                           prefetchRows(b, rows, group, {k, steps}, 2 * words);
                         prefetchNext(b, next, widthOf(weights), k, steps);
                       });
}

Accumulators cpu::multiplyCopies(IndexBuilder &b, const TileWeights &weights,
                                 const SrcRows &rows, int64_t depth,
                                 const Accumulators &start,
                                 const NextWeights &next) {
  const Tile &tile = weights.tile;
  const ProductInfo &info = infoOf(tile.product);
  const bool isWidened = info.rows == RowForm::asFloats;
  TargetInfo target = targetOf(b);
  // The elements in four bytes of a copy.
  int64_t perWord = isWidened ? 1 : info.group, lanes = tile.lanes * perWord;
  int64_t size =
      copiedAtOnce(depth, groupsCopied(target) * perWord, info.group);
  // Pads the copies by a cache line.
  int64_t pitch = llvm::alignTo(size, lanes) + target.wordsOfLine() * perWord;
  Type element =
      isWidened ? Type(b.b.getF32Type()) : getElementTypeOrSelf(rows.data);
  // Reads half of the rows in place, which the cache can hold.
  int64_t direct = isWidened ? 0 : tile.rows / 2;
  Value scratch = createScratch(b, (tile.rows - direct) * pitch, element);
  SrcRows copies(b, scratch, -direct * pitch, pitch, tile.rows);
  auto addBlock = [&](Index from, int64_t size, const Accumulators &sums) {
    SrcRows block = rows;
    SmallVector<Index> sources, targets;
    for (auto [source, copy] : llvm::zip_equal(block.at, copies.at)) {
      source = b.add(*source, from);
      sources.push_back(*source);
      targets.push_back(*copy);
    }
    copyRuns(b, lanes, {rows.data, ArrayRef(sources).drop_front(direct)},
             {scratch, ArrayRef(targets).drop_front(direct)}, size);
    SrcRows used = copies;
    used.dataOf.assign(tile.rows, scratch);
    for (int64_t r = 0; r < direct; ++r) {
      used.dataOf[r] = rows.data;
      used.at[r] = sources[r];
    }
    NextWeights later = next.from(b, b.mul(from, weights.panel));
    TileWeights part = weights.from(b, from);
    return ::multiplyAdd(b, {part, used, size}, sums,
                         [&](Value k, int64_t steps) {
                           prefetchRows(b, block, info.group, {k, steps},
                                        size / info.group, Into::second);
                           prefetchNext(b, later, widthOf(weights), k, steps);
                         });
  };
  return forEachBlock(b, depth, size, start, addBlock);
}
