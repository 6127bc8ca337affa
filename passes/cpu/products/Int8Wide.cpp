//===- Int8Wide.cpp - products of bytes as int16 --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Scratch.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/PairProducts.h"
#include "passes/cpu/products/ProductKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Weights as int16
//===----------------------------------------------------------------------===//

bool Int16Weights::pays(const TargetInfo &target, int64_t groups,
                        int64_t columns, int64_t rows) {
  return groups * columns * 8 <= fitStack(threshold::widenedBytes(target)) &&
         rows >= threshold::widenedFewestRows;
}

Int16Weights::Int16Weights(IndexBuilder &b, int64_t groups, int64_t columns)
    : words(createScratch(b, groups * columns * 4, b.b.getI16Type())),
      groups(groups) {}

int64_t Int16Weights::oddAt(Value words) {
  return cast<MemRefType>(words.getType()).getNumElements() / 2;
}

void Int16Weights::fill(IndexBuilder &b, const TileWeights &weights) const {
  const Tile &tile = weights.tile;
  int64_t elements = tile.lanes * 4;
  auto type = VectorType::get({elements}, b.b.getI8Type());
  forEach(b, 0, groups, 1, [&](Value group) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Index at = b.add(weights.at, b.add(b.mul(Index(group), weights.panel * 4),
                                         v * elements));
      Value bytes =
          vector::LoadOp::create(b.b, b.loc, type, weights.data, b.get(at));
      Index to =
          b.mul(b.add(b.mul(Index(group), tile.vectors), v), elements / 2);
      for (int64_t i = 0; i < 2; ++i)
        vector::StoreOp::create(b.b, b.loc, widenBytes(b, bytes, i), words,
                                b.get(b.add(to, i * oddAt(words))));
    }
  });
}

// Handles all even bytes first, then all odd bytes, so that registers hold only
// one part of the weights. If both parts were handled together, LLVM would load
// them together and keep one of ten sums on the stack. Each step would then
// wait for the previous store.
static void addWideWeights(IndexBuilder &b, const TileWeights &weights,
                           const SrcRows &rows, Index group,
                           MutableArrayRef<Value> sums) {
  const Tile &tile = weights.tile;
  auto type = VectorType::get({tile.lanes * 2}, b.b.getI16Type());
  auto whole = VectorType::get({tile.lanes}, b.b.getI32Type());
  for (int64_t i = 0; i < 2; ++i) {
    SmallVector<Value> factors;
    for (int64_t v = 0; v < tile.vectors; ++v)
      factors.push_back(vector::LoadOp::create(
          b.b, b.loc, type, weights.data,
          b.get(b.add(weights.at, v * tile.lanes * 2 +
                                      i * Int16Weights::oddAt(weights.data)))));
    for (int64_t r = 0; r < tile.rows; ++r) {
      if (!rows.at[r])
        continue;
      Value pair = memref::LoadOp::create(
          b.b, b.loc, rows.dataOf[r],
          b.get(b.add(b.add(*rows.at[r], group), i * *rows.odd)));
      Value row =
          asInt16(b, vector::BroadcastOp::create(b.b, b.loc, whole, pair));
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = sums[r * tile.vectors + v];
        sum = addInt16(b, row, factors[v], sum);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
struct Int8Wide final : ProductKernel {
  // Loads the two elements of a copy that hold the group: even bytes, then odd
  // bytes.
  SmallVector<Value> prepareRow(IndexBuilder &b, const Tile &tile,
                                const RowGroup &group) const override {
    SmallVector<Value> parts;
    for (int64_t i = 0; i < 2; ++i)
      parts.push_back(
          asInt16(b, splat(b, tile.lanes,
                           memref::LoadOp::create(
                               b.b, b.loc, group.data,
                               b.get(b.add(group.at, i * group.odd))))));
    return parts;
  }

  Value prepareColumns(IndexBuilder &b, const Tile &, Value weights,
                       int64_t part) const override {
    return widenBytes(b, weights, part);
  }

  Value step(IndexBuilder &b, const Tile &, Value row, Value weights,
             Value sum) const override {
    return addInt16(b, row, weights, sum);
  }

  void multiplyGroup(IndexBuilder &b, const TileWeights &weights,
                     const SrcRows &rows, Value k, int64_t count,
                     MutableArrayRef<Value> sums) const override {
    // Handles both forms of weights: int16 of Int16Weights, or bytes that each
    // step widens.
    if (!getElementTypeOrSelf(weights.data).isInteger(16))
      return ProductKernel::multiplyGroup(b, weights, rows, k, count, sums);
    TileWeights words = weights;
    words.at = b.add(weights.at, b.mul(Index(k), weights.panel * 4));
    addWideWeights(b, words, rows, Index(k), sums);
  }

  Accumulators multiplyRows(IndexBuilder &b, const TileWeights &weights,
                            const SrcRows &rows, int64_t depth,
                            const Accumulators &start,
                            const NextWeights &next) const override;
};
} // namespace

const ProductKernel &cpu::int8WideKernel() {
  static const Int8Wide kernel;
  return kernel;
}

/// Multiplies copies of the rows as int16.
Accumulators Int8Wide::multiplyRows(IndexBuilder &b, const TileWeights &weights,
                                    const SrcRows &rows, int64_t depth,
                                    const Accumulators &start,
                                    const NextWeights &next) const {
  const Tile &tile = weights.tile;
  TargetInfo target = targetOf(b);
  int64_t group = infoOf(tile.product).group;
  int64_t most = groupsCopied(target) / 2 * group;
  int64_t size = copiedAtOnce(depth, most, group);
  // Pads the copies by a cache line.
  int64_t pitch = llvm::divideCeil(size, group) + target.wordsOfLine();
  Value scratch = createScratch(b, tile.rows * 2 * pitch, b.b.getI32Type());
  SrcRows copies(b, scratch, 0, 2 * pitch, tile.rows);
  copies.odd = pitch;
  auto addBlock = [&](Index from, int64_t size, const Accumulators &sums) {
    // Copy in a loop: unrolled, it would be more code than the products.
    forEach(b, 0, tile.rows, 1, [&](Value row) {
      Index source =
          b.add(b.add(*rows.at[0], b.mul(rows.stride, Index(row))), from);
      copyAsInt16(b, tile.lanes, {rows.data, source},
                  {scratch, b.mul(Index(row), 2 * pitch)}, pitch, size);
    });
    return multiplyAdd(b, weights.from(b, from), copies, size, sums,
                       next.from(b, b.mul(from, weights.panel)));
  };
  return forEachBlock(b, depth, size, start, addBlock);
}
