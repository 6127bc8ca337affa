//===- AmxTiles.cpp - products of AMX tiles -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/amx/AmxTiles.h"

#include "dialects/cpu/PackedWeights.h"
#include "dialects/ingot/IngotDialect.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of columns of an AMX tile of four-byte elements.
static constexpr int64_t kColumns = cpu::kAmxWords;
/// The maximum number of rows of a register tile.
static constexpr int64_t kMaxRows = 2 * cpu::kAmxRows;

int64_t cpu::amxRowElements(Type element) {
  return kColumns * cpu::groupOf(element);
}

static int64_t countTiles(const Tile &tile) {
  return llvm::divideCeil(tile.rows, tile.amxRows);
}

/// Returns the first row of AMX tile `i`.
static int64_t firstRowOf(const Tile &tile, int64_t i) {
  return std::min(i * tile.amxRows, tile.rows - tile.amxRows);
}

/// Returns a stack buffer that all tiles of the kernel share under the given
/// name.
static Value sharedScratch(IndexBuilder &b, StringRef name, int64_t elements,
                           Type type) {
  IngotDialect::ScratchAttrHelper mark(b.b.getContext());
  for (auto alloca : entryOf(b).getOps<memref::AllocaOp>())
    if (mark.getAttr(alloca) == b.b.getStringAttr(name))
      return alloca;
  Value scratch = createScratch(b, elements, type);
  mark.setAttr(scratch.getDefiningOp(), b.b.getStringAttr(name));
  return scratch;
}

Accumulators cpu::zeroAmxTiles(IndexBuilder &b, const Tile &tile) {
  auto type = amx::TileType::get({tile.amxRows, kColumns},
                                 sumType(b, tile));
  Accumulators zeros;
  for (int64_t i = 0; i < countTiles(tile) * tile.vectors; ++i)
    zeros.push_back(amx::TileZeroOp::create(b.b, b.loc, type));
  return zeros;
}

static Value loadTile(IndexBuilder &b, int64_t rows, int64_t groups, Value data,
                      Index at, Index stride) {
  Type element = getElementTypeOrSelf(data);
  auto type =
      amx::TileType::get({rows, groups * cpu::groupOf(element)}, element);
  return amx::TileLoadOp::create(b.b, b.loc, type, data, b.get(at),
                                 b.get(stride));
}

static Value multiplyTiles(IndexBuilder &b, Value row, Value weights,
                           Value sum) {
  if (cast<amx::TileType>(sum.getType()).getElementType().isF32())
    return amx::TileMulFOp::create(b.b, b.loc, sum.getType(), row, weights,
                                   sum);
  return amx::TileMulIOp::create(b.b, b.loc, sum.getType(), row, weights, sum,
                                 /*isZextLhs=*/true, /*isZextRhs=*/false);
}

/// Copies the elements of the last step to rows on the stack. Elements that
/// earlier steps have counted become zeros.
static SrcRows copyLast(IndexBuilder &b, const Tile &tile, const SrcRows &rows,
                        const AmxSteps &steps, int64_t depth) {
  Type element = getElementTypeOrSelf(rows.data);
  int64_t lanes = amxRowElements(element), group = cpu::groupOf(element);
  int64_t from = *steps.last * group;
  auto type = VectorType::get({lanes}, element);
  SmallVector<bool> counts;
  for (int64_t k = from; k < from + lanes; ++k)
    counts.push_back(k >= steps.whole * steps.groups * group && k < depth);
  Value mask = arith::ConstantOp::create(
      b.b, b.loc,
      DenseElementsAttr::get(VectorType::get({lanes}, b.b.getI1Type()),
                             counts));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  Value scratch = sharedScratch(b, "last", kMaxRows * lanes, element);
  forEach(b, 0, tile.rows, 1, [&](Value row) {
    Index at = b.add(b.add(*rows.at[0], b.mul(rows.stride, Index(row))), from);
    Value part = vector::MaskedLoadOp::create(b.b, b.loc, type, rows.data,
                                              b.get(at), mask, zero);
    vector::StoreOp::create(b.b, b.loc, part, scratch,
                            b.get(b.mul(Index(row), lanes)));
  });
  return SrcRows(b, scratch, 0, lanes, 1);
}

// Keeps the tiles of weights in registers during a step, and loads the tiles of
// rows one by one. A step has 4 loads for 4 products of 16 cycles. A row stride
// of a multiple of 4 KiB does no harm, because each line is used once. The code
// does not prefetch, because the hardware prefetcher reads far enough ahead.
Accumulators cpu::multiplyAddAmx(IndexBuilder &b, const TileWeights &weights,
                                 const SrcRows &rows, int64_t depth,
                                 const Accumulators &start) {
  const Tile &tile = weights.tile;
  int64_t group = infoOf(tile.product).group;
  AmxSteps steps(depth, group);
  auto step = [&](const SrcRows &rows, Index rowAt, Index groupAt,
                  const Accumulators &before) {
    Accumulators sums = before;
    SmallVector<Value> factors;
    Index from = b.add(weights.at, b.mul(groupAt, weights.panel * group));
    for (int64_t v = 0; v < tile.vectors; ++v)
      factors.push_back(loadTile(b, steps.groups, kColumns, weights.data,
                                 b.add(from, v * kColumns * group),
                                 weights.panel * group));
    for (int64_t i = 0; i < countTiles(tile); ++i) {
      Index first = b.add(*rows.at[0], b.mul(rows.stride, firstRowOf(tile, i)));
      Value row = loadTile(b, tile.amxRows, steps.groups, rows.data,
                           b.add(first, rowAt), rows.stride);
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value &sum = sums[i * tile.vectors + v];
        sum = multiplyTiles(b, row, factors[v], sum);
      }
    }
    return sums;
  };
  Accumulators sums = start;
  if (steps.whole != 0)
    sums = forEach(b, 0, steps.whole, sums,
                   [&](Value k, const Accumulators &sums) {
                     Index at = b.mul(Index(k), steps.groups);
                     return step(rows, b.mul(at, group), at, sums);
                   });
  if (steps.last)
    sums = step(copyLast(b, tile, rows, steps, depth), 0, *steps.last, sums);
  return sums;
}

void cpu::storeAmxTiles(IndexBuilder &b, const Tile &tile,
                        const Accumulators &sums, Value to, Index at,
                        int64_t pitch) {
  for (int64_t i = 0; i < countTiles(tile); ++i)
    for (int64_t v = 0; v < tile.vectors; ++v)
      amx::TileStoreOp::create(
          b.b, b.loc, to,
          b.get(b.add(at, firstRowOf(tile, i) * pitch + v * kColumns)),
          sums[i * tile.vectors + v], b.get(pitch));
}

Value cpu::spillAmxTiles(IndexBuilder &b, const Tile &tile,
                         const Accumulators &sums) {
  Value scratch =
      sharedScratch(b, "sums", kMaxRows * 2 * kColumns, sumType(b, tile));
  storeAmxTiles(b, tile, sums, scratch, 0, tile.vectors * kColumns);
  return scratch;
}

void cpu::fillRun(IndexBuilder &b, Value to, Index at, int64_t count,
                  int64_t value) {
  Type element = getElementTypeOrSelf(to);
  int64_t lanes = amxRowElements(element);
  assert((value == 0 || element.isInteger()) && "integers have a zero point");
  auto type = VectorType::get({lanes}, element);
  Value filled = value == 0 ? arith::ConstantOp::create(b.b, b.loc,
                                                        b.b.getZeroAttr(type))
                                  .getResult()
                            : splatInt(b, type,
                                       llvm::SignExtend64(
                                           value,
                                           element.getIntOrFloatBitWidth()));
  forEachBlock(b, count, lanes, [&](Index from, int64_t) {
    vector::StoreOp::create(b.b, b.loc, filled, to, b.get(b.add(at, from)));
  });
}
