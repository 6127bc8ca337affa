//===- Multiplier.cpp - products of tiles in shared memory ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/products/Multiplier.h"

#include "passes/cuda/kernels/MatrixUnits.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

Multiplier::~Multiplier() = default;

Multiplier::Multiplier(Code &code, const Product &product, Value thread)
    : code(code), schedule(product.schedule()),
      layout(code, schedule.getDepth()) {
  lane = code.remainder(thread, kWarp);
  Value warp = code.divide(thread, kWarp);
  const int64_t across = schedule.getColumns() / schedule.getWarpColumns();
  warpRow = code.multiply(code.divide(warp, across), schedule.getWarpRows());
  warpColumn =
      code.multiply(code.remainder(warp, across), schedule.getWarpColumns());
}

Value Multiplier::sumAt(Value rows, Value row, Value column) {
  Value at = code.add(code.multiply(row, schedule.getSumStride()), column);
  return code.shift(rows, code.b.getF32Type(), at);
}

namespace {

/// Multiplies by multiply-adds of f32. The lanes of a warp are 4 rows of 8. A
/// lane has each fourth row and each eighth column of the warp, so that reads
/// of neighboring lanes meet no bank twice. Sums are added up in the order of
/// the depth.
class FloatMultiplier : public Multiplier {
public:
  FloatMultiplier(Code &code, const Product &product, Value thread)
      : Multiplier(code, product, thread),
        numRows(schedule.getWarpRows() / kLaneRows),
        numColumns(schedule.getWarpColumns() / kLaneColumns) {
    firstRow = code.add(warpRow, code.divide(lane, kLaneColumns));
    firstColumn = code.add(warpColumn, code.remainder(lane, kLaneColumns));
  }

  SmallVector<Value> start() override {
    return SmallVector<Value>(size_t(numRows * numColumns), code.zero());
  }
  SmallVector<Value> multiply(Value srcTile, Value weightsTile,
                              ValueRange sums) override;
  void store(ValueRange sums, Value rows) override;

private:
  /// Loads a chunk of each of the lane's rows or columns.
  SmallVector<Value> loadChunks(Value tile, Value first, int64_t count,
                                int64_t step, Value chunk);

  static constexpr int64_t kLaneRows = 4, kLaneColumns = 8;
  int64_t numRows, numColumns;
  Value firstRow, firstColumn;
};

/// Multiplies f16, bf16 or tf32 by matrix units, two chunks at a time.
class MatrixMultiplier : public Multiplier {
public:
  MatrixMultiplier(Code &code, const Product &product, Value thread)
      : Multiplier(code, product, thread), element(product.src.element),
        numRows(schedule.getWarpRows() / kRows),
        numColumns(schedule.getWarpColumns() / kColumns) {}

  SmallVector<Value> start() override {
    return SmallVector<Value>(size_t(numRows * numColumns * kSums),
                              code.zero());
  }
  SmallVector<Value> multiply(Value srcTile, Value weightsTile,
                              ValueRange sums) override;
  void store(ValueRange sums, Value rows) override;

private:
  /// Returns the address of a chunk of a row of a tile.
  Value chunkAt(Value tile, Value row, Value chunk);

  static constexpr int64_t kRows = 16, kColumns = 8, kSums = 4;
  Type element;
  int64_t numRows, numColumns;
};

} // namespace

std::unique_ptr<Multiplier>
Multiplier::create(Code &code, const Product &product, Value thread) {
  if (product.usesMatrixUnits())
    return std::make_unique<MatrixMultiplier>(code, product, thread);
  return std::make_unique<FloatMultiplier>(code, product, thread);
}

//===----------------------------------------------------------------------===//
// Multiply-adds of f32
//===----------------------------------------------------------------------===//

SmallVector<Value> FloatMultiplier::loadChunks(Value tile, Value first,
                                               int64_t count, int64_t step,
                                               Value chunk) {
  SmallVector<Value> chunks;
  Type vector = VectorType::get(4, code.b.getF32Type());
  for (int64_t i = 0; i < count; ++i) {
    Value at = layout.offsetOf(code.add(first, i * step), chunk);
    Value address = code.shift(tile, code.b.getI8Type(), at);
    chunks.push_back(code.load(address, vector, kAccessBytes));
  }
  return chunks;
}

SmallVector<Value> FloatMultiplier::multiply(Value srcTile, Value weightsTile,
                                             ValueRange sums) {
  auto loop = scf::ForOp::create(
      code.b, code.loc, code.number(0),
      code.number(schedule.getDepth() / kAccessBytes), code.number(1), sums);
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> rows =
      loadChunks(srcTile, firstRow, numRows, kLaneRows, loop.getInductionVar());
  SmallVector<Value> columns = loadChunks(weightsTile, firstColumn, numColumns,
                                          kLaneColumns, loop.getInductionVar());
  SmallVector<Value> next(loop.getRegionIterArgs());
  for (int64_t k = 0; k < 4; ++k) {
    auto at = [&](Value chunk) { return code.extract(chunk, k); };
    SmallVector<Value> x = llvm::map_to_vector(rows, at);
    SmallVector<Value> y = llvm::map_to_vector(columns, at);
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < numColumns; ++j) {
        Value &sum = next[size_t(i * numColumns + j)];
        sum = LLVM::FMAOp::create(code.b, code.loc, x[size_t(i)], y[size_t(j)],
                                  sum);
      }
  }
  scf::YieldOp::create(code.b, code.loc, next);
  return SmallVector<Value>(loop.getResults());
}

void FloatMultiplier::store(ValueRange sums, Value rows) {
  for (int64_t i = 0; i < numRows; ++i)
    for (int64_t j = 0; j < numColumns; ++j)
      code.store(sums[size_t(i * numColumns + j)],
                 sumAt(rows, code.add(firstRow, i * kLaneRows),
                       code.add(firstColumn, j * kLaneColumns)),
                 sizeof(float));
}

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

Value MatrixMultiplier::chunkAt(Value tile, Value row, Value chunk) {
  return code.shift(tile, code.b.getI8Type(), layout.offsetOf(row, chunk));
}

SmallVector<Value> MatrixMultiplier::multiply(Value srcTile, Value weightsTile,
                                              ValueRange sums) {
  SmallVector<Value> next(sums);
  // Lanes 0 to 15 have the rows of the first chunk of src, the others those of
  // the second. Lanes of weights have 8 columns of the first chunk, of the
  // second, then the next 8 columns.
  Value srcRow = code.add(warpRow, code.remainder(lane, kRows));
  Value srcChunk = code.divide(lane, kRows);
  Value weightsRow = code.add(
      warpColumn, code.add(code.multiply(code.divide(lane, 16), kColumns),
                           code.remainder(lane, kColumns)));
  Value weightsChunk = code.remainder(code.divide(lane, kColumns), 2);
  const int64_t chunks = schedule.getDepth() / kAccessBytes;
  for (int64_t chunk = 0; chunk < chunks; chunk += 2) {
    SmallVector<SmallVector<Value>> rows, columns;
    for (int64_t i = 0; i < numRows; ++i)
      rows.push_back(loadMatrices(code,
                                  chunkAt(srcTile, code.add(srcRow, i * kRows),
                                          code.add(srcChunk, chunk)),
                                  element));
    for (int64_t j = 0; j < numColumns; j += 2) {
      SmallVector<Value> both =
          loadMatrices(code,
                       chunkAt(weightsTile, code.add(weightsRow, j * kColumns),
                               code.add(weightsChunk, chunk)),
                       element);
      columns.push_back({both[0], both[1]});
      columns.push_back({both[2], both[3]});
    }
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < numColumns; ++j) {
        auto own = MutableArrayRef(next).slice(
            size_t((i * numColumns + j) * kSums), kSums);
        llvm::copy(multiplyMatrices(code, element, rows[size_t(i)],
                                    columns[size_t(j)], own),
                   own.begin());
      }
  }
  return next;
}

void MatrixMultiplier::store(ValueRange sums, Value rows) {
  // A lane has two neighboring columns of a row, and those eight rows below.
  Value row = code.add(warpRow, code.divide(lane, 4));
  Value column =
      code.add(warpColumn, code.multiply(code.remainder(lane, 4), 2));
  Type pair = VectorType::get(2, code.b.getF32Type());
  for (int64_t i = 0; i < numRows; ++i)
    for (int64_t j = 0; j < numColumns; ++j)
      for (int64_t half = 0; half < 2; ++half) {
        const size_t at = size_t((i * numColumns + j) * kSums + half * 2);
        Value value = LLVM::PoisonOp::create(code.b, code.loc, pair);
        for (int64_t k = 0; k < 2; ++k)
          value = LLVM::InsertElementOp::create(
              code.b, code.loc, value, sums[at + size_t(k)], code.number(k));
        code.store(value,
                   sumAt(rows, code.add(row, i * kRows + half * kColumns),
                         code.add(column, j * kColumns)),
                   2 * sizeof(float));
      }
}
