//===- MicroKernel.cpp - a register tile of a product ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/MicroKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

static VectorType vectorOf(OpBuilder &b, int64_t lanes) {
  return VectorType::get({lanes}, b.getF32Type());
}

Accumulators codegen::zeroAccumulators(IndexBuilder &b, const Tile &tile) {
  Value zero = arith::ConstantOp::create(
      b.b, b.loc, b.b.getZeroAttr(vectorOf(b.b, tile.lanes)));
  return Accumulators(tile.rows * tile.vectors, zero);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Accumulators codegen::forEach(
    IndexBuilder &b, Index begin, Index end, const Accumulators &start,
    function_ref<Accumulators(Value, const Accumulators &)> body) {
  if (!begin.value && !end.value && end.constant == begin.constant + 1)
    return body(b.get(begin), start);
  Value step = b.get(1);
  auto loop = scf::ForOp::create(b.b, b.loc, b.get(begin), b.get(end), step,
                                 start);
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(loop.getBody());
  Accumulators next = body(loop.getInductionVar(),
                           Accumulators(loop.getRegionIterArgs()));
  scf::YieldOp::create(b.b, b.loc, next);
  return Accumulators(loop.getResults());
}

void codegen::forEach(IndexBuilder &b, Index begin, Index end, int64_t step,
                      function_ref<void(Value)> body) {
  if (!begin.value && !end.value && end.constant <= begin.constant + step) {
    if (end.constant > begin.constant)
      body(b.get(begin));
    return;
  }
  auto loop = scf::ForOp::create(b.b, b.loc, b.get(begin), b.get(end),
                                 b.get(step));
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value codegen::multiplyAddVectors(IndexBuilder &b, const Tile &tile, Value x,
                                  Value y, Value sum) {
  if (tile.hasFMA)
    return vector::FMAOp::create(b.b, b.loc, x, y, sum);
  Value product = arith::MulFOp::create(b.b, b.loc, x, y);
  return arith::AddFOp::create(b.b, b.loc, sum, product);
}

Rows::Rows(IndexBuilder &b, Value data, Index first, Index stride,
           int64_t count)
    : data(data), stride(stride) {
  for (int64_t r = 0; r < count; ++r)
    at.push_back(b.add(first, b.mul(stride, r)));
}

static void prefetch(IndexBuilder &b, Value data, Index at) {
  memref::PrefetchOp::create(b.b, b.loc, data, ValueRange{b.get(at)},
                             /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

/// Elements of a cache line.
static constexpr int64_t kLine = 16;

/// Asks for the rows' lines that are needed `ahead` elements later: one a step
/// of k, so that 16 steps ask for the lines of 16 rows.
static void prefetchRows(IndexBuilder &b, const Rows &rows, Value k,
                         int64_t ahead) {
  Value row = arith::AndIOp::create(b.b, b.loc, k, b.get(kLine - 1));
  Index line = b.add(Index(k), b.mul(Index(row), b.add(rows.stride, -1)));
  prefetch(b, rows.data, b.add(b.add(*rows.at[0], line), ahead));
}

/// Weights come from the second-level cache: they are asked for this many steps
/// of k ahead, which covers its latency.
static constexpr int64_t kPrefetchDistance = 16;

/// Called with each k: what else to do meanwhile.
using Meanwhile = function_ref<void(Value k)>;

/// A multiply-add takes 4 cycles and two begin each cycle: sums of fewer than
/// this many accumulators wait for each other.
static constexpr int64_t kMinAccumulators = 8;

/// Step k of a product.
static void multiplyAddStep(IndexBuilder &b, const Tile &tile, const Rows &rows,
                            Value weights, Index weightsAt, int64_t panel,
                            Value k, MutableArrayRef<Value> sums,
                            Meanwhile meanwhile) {
  VectorType type = vectorOf(b.b, tile.lanes);
  Index from = b.add(weightsAt, b.mul(Index(k), panel));
  SmallVector<Value> factors;
  for (int64_t v = 0; v < tile.vectors; ++v) {
    Index at = b.add(from, v * tile.lanes);
    factors.push_back(
        vector::LoadOp::create(b.b, b.loc, type, weights, b.get(at)));
    prefetch(b, weights, b.add(at, kPrefetchDistance * panel));
  }
  meanwhile(k);
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (!rows.at[r])
      continue;
    Value element = memref::LoadOp::create(
        b.b, b.loc, rows.data, b.get(b.add(*rows.at[r], Index(k))));
    Value wide = vector::BroadcastOp::create(b.b, b.loc, type, element);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value &sum = sums[r * tile.vectors + v];
      sum = multiplyAddVectors(b, tile, wide, factors[v], sum);
    }
  }
}

static Accumulators multiplyAdd(IndexBuilder &b, const Tile &tile,
                                const Rows &rows, Value weights,
                                Index weightsAt, int64_t panel, int64_t depth,
                                const Accumulators &start,
                                Meanwhile meanwhile) {
  auto step = [&](Value k, MutableArrayRef<Value> sums) {
    multiplyAddStep(b, tile, rows, weights, weightsAt, panel, k, sums,
                    meanwhile);
  };
  // A few rows, a vector times a matrix: every steps-th k has accumulators of
  // its own. How many depends on the rows, not on the tile's vectors: all
  // columns are summed in one order, so that equal ones have equal sums.
  constexpr int64_t kFullVectors = 2;
  int64_t count = start.size();
  int64_t steps =
      std::max<int64_t>(1, kMinAccumulators / (tile.rows * kFullVectors));
  if (depth < 4 * steps)
    steps = 1;
  int64_t whole = depth - depth % steps;
  Accumulators sums = start;
  for (int64_t i = 1; i < steps; ++i)
    llvm::append_range(sums, zeroAccumulators(b, tile));
  sums = forEach(b, 0, whole / steps, sums,
                 [&](Value block, const Accumulators &before) {
                   Accumulators next = before;
                   Index first = b.mul(Index(block), steps);
                   for (int64_t i = 0; i < steps; ++i)
                     step(b.get(b.add(first, i)),
                          MutableArrayRef(next).slice(i * count, count));
                   return next;
                 });
  for (; steps > 1; steps = llvm::divideCeil(steps, 2)) {
    int64_t kept = llvm::divideCeil(steps, 2) * count;
    for (int64_t i = kept; i < steps * count; ++i)
      sums[i - kept] =
          arith::AddFOp::create(b.b, b.loc, sums[i - kept], sums[i]);
    sums.resize(kept);
  }
  for (int64_t k = whole; k < depth; ++k)
    step(b.get(k), sums);
  return sums;
}

Accumulators codegen::multiplyAdd(IndexBuilder &b, const Tile &tile,
                                  const Rows &rows, Value weights,
                                  Index weightsAt, int64_t panel, int64_t depth,
                                  const Accumulators &start) {
  return ::multiplyAdd(b, tile, rows, weights, weightsAt, panel, depth, start,
                       [](Value) {});
}

/// Room on the stack of the kernel that `op` is in.
static Value createScratch(IndexBuilder &b, Operation *op, int64_t elements) {
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointToStart(
      &op->getParentOfType<func::FuncOp>().getBody().front());
  return memref::AllocaOp::create(
      b.b, b.loc, MemRefType::get({elements}, b.b.getF32Type()),
      b.b.getI64IntegerAttr(64));
}

/// Rows that are a multiple of this many bytes apart all fall into the same set
/// of the first-level cache, which holds 8 to 12 lines.
static constexpr int64_t kCacheSetStride = 4096;
/// What is copied of a row at a time: 14 rows then take 14 KiB.
static constexpr int64_t kCopied = 256;

Accumulators codegen::multiplyAddWhole(IndexBuilder &b, const Tile &tile,
                                       const Rows &rows, Value weights,
                                       Index weightsAt, int64_t panel,
                                       int64_t depth, const Accumulators &start,
                                       Operation *op) {
  bool collides = !rows.stride.value && tile.rows > 8 &&
                  rows.stride.constant * 4 % kCacheSetStride == 0;
  if (!collides || depth % kCopied != 0) {
    // Short rows are there before prefetching starts to help.
    bool isLong = depth >= 8 * kLine;
    return ::multiplyAdd(b, tile, rows, weights, weightsAt, panel, depth, start,
                         [&](Value k) {
                           if (isLong)
                             prefetchRows(b, rows, k, 2 * kLine);
                         });
  }
  // The copies are a cache line more than their length apart.
  int64_t pitch = kCopied + kLine;
  Value scratch = createScratch(b, op, tile.rows * pitch);
  VectorType type = vectorOf(b.b, tile.lanes);
  return forEach(
      b, 0, depth / kCopied, start,
      [&](Value block, const Accumulators &sums) {
        Index from = b.mul(Index(block), kCopied);
        forEach(b, 0, kCopied / tile.lanes, 1, [&](Value i) {
          Index at = b.mul(Index(i), tile.lanes);
          for (int64_t r = 0; r < tile.rows; ++r) {
            Value part = vector::LoadOp::create(
                b.b, b.loc, type, rows.data,
                b.get(b.add(b.add(*rows.at[r], from), at)));
            vector::StoreOp::create(b.b, b.loc, part, scratch,
                                    b.get(b.add(at, r * pitch)));
          }
        });
        Rows copies(b, scratch, 0, pitch, tile.rows);
        Rows ahead = rows;
        for (std::optional<Index> &at : ahead.at)
          at = b.add(*at, from);
        return ::multiplyAdd(b, tile, copies, weights,
                             b.add(weightsAt, b.mul(from, panel)), panel,
                             kCopied, sums, [&](Value k) {
                               prefetchRows(b, ahead, k, kCopied);
                             });
      });
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

static Value maskOf(IndexBuilder &b, const Place &place) {
  if (place.mask)
    return place.mask;
  auto type = VectorType::get({place.lanes}, b.b.getI1Type());
  SmallVector<bool> within(place.lanes, false);
  std::fill_n(within.begin(), place.valid, true);
  return arith::ConstantOp::create(b.b, b.loc,
                                   DenseElementsAttr::get(type, within));
}

static Value loadVector(IndexBuilder &b, Value data, Index at,
                        const Place &place) {
  VectorType type = VectorType::get(
      {place.lanes}, cast<MemRefType>(data.getType()).getElementType());
  if (place.isWhole())
    return vector::LoadOp::create(b.b, b.loc, type, data, b.get(at));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b.b, b.loc, type, data, b.get(at),
                                      maskOf(b, place), zero);
}

Value codegen::loadPart(IndexBuilder &b, const Tile &tile, Value data,
                        Index at) {
  return loadVector(b, data, at, Place{{}, tile.lanes, tile.lastLanes, {}});
}

/// The vector of an epilogue operand that belongs to a place.
static Value loadOperand(IndexBuilder &b, const Flat &operand,
                         const Place &place) {
  SmallVector<Index> at;
  for (auto [size, coordinate] :
       llvm::zip_equal(operand.shape, place.coordinates))
    at.push_back(size == 1 ? Index(0) : coordinate);
  Index index = operand.at(b, at);
  if (operand.shape.back() != 1 || place.valid == 1)
    return loadVector(b, operand.data, index, place);
  Value element =
      memref::LoadOp::create(b.b, b.loc, operand.data, b.get(index));
  return vector::BroadcastOp::create(
      b.b, b.loc, VectorType::get({place.lanes}, element.getType()), element);
}

/// `op`, of an epilogue, on vectors.
static void vectorize(OpBuilder &b, Operation &op, int64_t lanes,
                      IRMapping &values) {
  auto widen = [&](Type type) -> Type { return VectorType::get({lanes}, type); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto type = cast<ShapedType>(widen(constant.getType()));
    values.map(constant.getResult(),
               Value(arith::ConstantOp::create(
                   b, op.getLoc(),
                   DenseElementsAttr::get(type, constant.getValue()))));
    return;
  }
  OperationState state(op.getLoc(), op.getName());
  for (Value operand : op.getOperands())
    state.operands.push_back(values.lookup(operand));
  for (Type type : op.getResultTypes())
    state.types.push_back(widen(type));
  state.attributes = op.getAttrDictionary();
  state.propertiesAttr = op.getPropertiesAsAttribute();
  Operation *wide = b.create(state);
  for (auto [from, to] : llvm::zip_equal(op.getResults(), wide->getResults()))
    values.map(from, to);
}

void codegen::storeVector(IndexBuilder &b, cpu::EpilogueOpInterface op,
                          const Flat &dst, ArrayRef<Flat> operands, Value sum,
                          const Place &place) {
  Block &body = op.getEpilogue().front();
  IRMapping values;
  values.map(body.getArgument(0), sum);
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body.getArguments().drop_front()))
    values.map(argument, loadOperand(b, operand, place));
  for (Operation &step : body.without_terminator())
    vectorize(b.b, step, place.lanes, values);
  Value result = values.lookup(body.getTerminator()->getOperand(0));
  Value at = b.get(dst.at(b, place.coordinates));
  if (place.isWhole())
    vector::StoreOp::create(b.b, b.loc, result, dst.data, at);
  else
    vector::MaskedStoreOp::create(b.b, b.loc, dst.data, at, maskOf(b, place),
                                  result);
}

/// Above this many ops the epilogue of a tile is a loop over its rows: unrolled
/// it would fill the instruction cache.
static constexpr int64_t kMaxUnrolledOps = 300;

/// How many instructions an epilogue op becomes, roughly.
static int64_t costOf(Operation &op) {
  if (isa<arith::ConstantOp>(op))
    return 0;
  return op.getDialect()->getNamespace() == "math" ? 20 : 1;
}

void codegen::storeTile(
    IndexBuilder &b, const Tile &tile, cpu::EpilogueOpInterface op,
    const Flat &dst, ArrayRef<Flat> operands, const Accumulators &sums,
    function_ref<SmallVector<Index>(IndexBuilder &, Index row)> rowAt) {
  auto store = [&](Index row, int64_t v, Value sum) {
    Place place;
    place.coordinates = rowAt(b, row);
    Index &column = place.coordinates.back();
    column = b.add(column, v * tile.lanes);
    place.lanes = tile.lanes;
    place.valid = v == tile.vectors - 1 ? tile.lastLanes : tile.lanes;
    storeVector(b, op, dst, operands, sum, place);
  };
  int64_t cost = 0;
  for (Operation &step : op.getEpilogue().front().without_terminator())
    cost += costOf(step);
  if (cost * tile.rows * tile.vectors <= kMaxUnrolledOps) {
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t v = 0; v < tile.vectors; ++v)
        store(r, v, sums[r * tile.vectors + v]);
    return;
  }
  VectorType type = vectorOf(b.b, tile.lanes);
  Value spilled =
      createScratch(b, op, tile.rows * tile.vectors * tile.lanes);
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(b.b, b.loc, sum, spilled,
                            b.get(int64_t(i) * tile.lanes));
  forEach(b, 0, tile.rows, 1, [&](Value row) {
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Index at = b.add(b.mul(Index(row), tile.vectors * tile.lanes),
                       v * tile.lanes);
      store(Index(row), v,
            vector::LoadOp::create(b.b, b.loc, type, spilled, b.get(at)));
    }
  });
}
