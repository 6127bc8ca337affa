//===- HeadMultiplier.cpp - products of attentions ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/attention/HeadMultiplier.h"

#include "passes/cuda/kernels/MatrixUnits.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

HeadMultiplier::~HeadMultiplier() = default;

HeadMultiplier::HeadMultiplier(Code &code, const Attention &attention,
                               Value thread, int64_t numRows,
                               int64_t lanesOfRow)
    : numRows(numRows), numColumns(attention.schedule().getKeys() / lanesOfRow),
      numOutputs(attention.width() / lanesOfRow), lanesOfRow(lanesOfRow),
      code(code), attention(attention), depth(attention.depth()),
      width(attention.width()), keys(attention.schedule().getKeys()),
      lane(code.remainder(thread, kWarp)),
      warpRow(code.multiply(code.divide(thread, kWarp),
                            AttentionScheduleAttr::kWarpRows)) {}

Value HeadMultiplier::chunkAt(Value tile, int64_t rowBytes, Value row,
                              Value chunk) {
  return code.shift(tile, code.b.getI8Type(),
                    code.add(code.multiply(row, rowBytes),
                             code.multiply(chunk, kAccessBytes)));
}

namespace {

/// Multiplies by multiply-adds of f32. The lanes of a warp are 4 rows of 8. A
/// lane has each fourth query and each eighth key. Other lanes get the
/// probabilities through shared memory.
class FloatHeads : public HeadMultiplier {
public:
  FloatHeads(Code &code, const Attention &attention, Value thread,
             Value probabilities)
      : HeadMultiplier(code, attention, thread, /*numRows=*/4,
                       /*lanesOfRow=*/8),
        shared(probabilities),
        firstRow(code.add(warpRow, code.divide(lane, 8))),
        column(code.remainder(lane, 8)) {}

  Value rowAt(int64_t i) override { return code.add(firstRow, 4 * i); }
  Value columnAt(int64_t j) override { return code.add(column, 8 * j); }
  Value outputAt(int64_t j) override {
    return code.add(code.multiply(column, 2), j / 2 * 16 + j % 2);
  }
  SmallVector<Value> scores(Value queries, Value keysTile) override;
  SmallVector<Value> accumulate(ArrayRef<Value> probabilities, Value values,
                                ArrayRef<Value> sums) override;

private:
  Value loadChunk(Value tile, int64_t rowBytes, Value row, Value chunk) {
    return code.load(chunkAt(tile, rowBytes, row, chunk),
                     VectorType::get(4, code.b.getF32Type()), kAccessBytes);
  }
  void multiplyAdd(Value x, Value y, Value &sum) {
    sum = LLVM::FMAOp::create(code.b, code.loc, x, y, sum);
  }

  Value shared, firstRow, column;
};

/// Multiplies f16 or bf16 by matrix units: `mma.sync` of 16 rows, 8 columns and
/// a depth of 16 (PTX ISA 8.0, section 9.7.13). The scores of a thread are its
/// part of the left factor of the second product.
class MatrixHeads : public HeadMultiplier {
public:
  MatrixHeads(Code &code, const Attention &attention, Value thread)
      : HeadMultiplier(code, attention, thread, /*numRows=*/2,
                       /*lanesOfRow=*/4),
        element(attention.element()) {}

  Value rowAt(int64_t i) override {
    return code.add(code.add(warpRow, code.divide(lane, 4)), 8 * i);
  }
  Value columnAt(int64_t j) override {
    return code.add(code.multiply(code.remainder(lane, 4), 2),
                    j / 2 * 8 + j % 2);
  }
  Value outputAt(int64_t j) override { return columnAt(j); }
  SmallVector<Value> scores(Value queries, Value keysTile) override;
  SmallVector<Value> accumulate(ArrayRef<Value> probabilities, Value values,
                                ArrayRef<Value> sums) override;

private:
  /// Adds the product of 16 by 16 and 16 by 8 elements to the sums of tile
  /// `at`, of which a row has `perRow`.
  void multiplyAdd(ArrayRef<Value> a, ArrayRef<Value> b,
                   MutableArrayRef<Value> sums, int64_t perRow, int64_t at);
  /// Rounds two probabilities to a register of a factor.
  Value roundPair(Value x, Value y);

  Type element;
};

} // namespace

std::unique_ptr<HeadMultiplier>
HeadMultiplier::create(Code &code, const Attention &attention, Value thread,
                       Value probabilities) {
  if (attention.element().isF32())
    return std::make_unique<FloatHeads>(code, attention, thread, probabilities);
  return std::make_unique<MatrixHeads>(code, attention, thread);
}

//===----------------------------------------------------------------------===//
// Multiply-adds of f32
//===----------------------------------------------------------------------===//

SmallVector<Value> FloatHeads::scores(Value queries, Value keysTile) {
  const int64_t rowBytes = attention.rowBytes(depth);
  SmallVector<Value> zeros(size_t(numRows * numColumns), code.zero());
  auto loop = scf::ForOp::create(code.b, code.loc, code.number(0),
                                 code.number(depth / 4), code.number(1), zeros);
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> rows, columns, next(loop.getRegionIterArgs());
  for (int64_t i = 0; i < numRows; ++i)
    rows.push_back(
        loadChunk(queries, rowBytes, rowAt(i), loop.getInductionVar()));
  for (int64_t j = 0; j < numColumns; ++j)
    columns.push_back(
        loadChunk(keysTile, rowBytes, columnAt(j), loop.getInductionVar()));
  for (int64_t k = 0; k < 4; ++k)
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < numColumns; ++j)
        multiplyAdd(code.extract(rows[size_t(i)], k),
                    code.extract(columns[size_t(j)], k),
                    next[size_t(i * numColumns + j)]);
  scf::YieldOp::create(code.b, code.loc, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> FloatHeads::accumulate(ArrayRef<Value> probabilities,
                                          Value values, ArrayRef<Value> sums) {
  const int64_t rowBytes = attention.rowBytes(keys),
                valueBytes = attention.rowBytes(width);
  Type f32 = code.b.getF32Type();
  for (int64_t i = 0; i < numRows; ++i)
    for (int64_t j = 0; j < numColumns; ++j) {
      Value row = chunkAt(shared, rowBytes, rowAt(i), code.number(0));
      code.store(probabilities[size_t(i * numColumns + j)],
                 code.shift(row, f32, columnAt(j)), sizeof(float));
    }
  // Only lanes of the warp read its rows. All threads pass a barrier before
  // the next step writes them.
  NVVM::SyncWarpOp::create(code.b, code.loc, code.number(-1));
  auto loop = scf::ForOp::create(code.b, code.loc, code.number(0),
                                 code.number(keys / 4), code.number(1), sums);
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> rows, next(loop.getRegionIterArgs());
  for (int64_t i = 0; i < numRows; ++i)
    rows.push_back(
        loadChunk(shared, rowBytes, rowAt(i), loop.getInductionVar()));
  Value firstKey = code.multiply(loop.getInductionVar(), 4);
  for (int64_t k = 0; k < 4; ++k) {
    Value row =
        chunkAt(values, valueBytes, code.add(firstKey, k), code.number(0));
    for (int64_t j = 0; j < numOutputs; j += 2) {
      Value pair = code.load(code.shift(row, f32, outputAt(j)),
                             VectorType::get(2, f32), 2 * sizeof(float));
      for (int64_t i = 0; i < numRows; ++i)
        for (int64_t half = 0; half < 2; ++half)
          multiplyAdd(code.extract(rows[size_t(i)], k),
                      code.extract(pair, half),
                      next[size_t(i * numOutputs + j + half)]);
    }
  }
  scf::YieldOp::create(code.b, code.loc, next);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// Matrix units
//===----------------------------------------------------------------------===//

void MatrixHeads::multiplyAdd(ArrayRef<Value> a, ArrayRef<Value> b,
                              MutableArrayRef<Value> sums, int64_t perRow,
                              int64_t at) {
  Value *own[] = {&sums[size_t(2 * at)], &sums[size_t(2 * at + 1)],
                  &sums[size_t(perRow + 2 * at)],
                  &sums[size_t(perRow + 2 * at + 1)]};
  SmallVector<Value> previous =
      llvm::map_to_vector(own, [](Value *sum) { return *sum; });
  for (auto [sum, next] :
       llvm::zip_equal(own, multiplyMatrices(code, element, a, b, previous)))
    *sum = next;
}

Value MatrixHeads::roundPair(Value x, Value y) {
  Value pair = LLVM::PoisonOp::create(code.b, code.loc,
                                      VectorType::get(2, code.b.getF32Type()));
  for (auto [i, value] : llvm::enumerate(ArrayRef{x, y}))
    pair = LLVM::InsertElementOp::create(code.b, code.loc, pair, value,
                                         code.number(int64_t(i)));
  pair = LLVM::FPTruncOp::create(code.b, code.loc, VectorType::get(2, element),
                                 pair);
  if (element.isF16())
    return pair;
  return LLVM::BitcastOp::create(code.b, code.loc, code.b.getI32Type(), pair);
}

SmallVector<Value> MatrixHeads::scores(Value queries, Value keysTile) {
  const int64_t rowBytes = attention.rowBytes(depth);
  SmallVector<Value> sums(size_t(numRows * numColumns), code.zero());
  // Lanes 0 to 15 have the queries of the first chunk, the others those of the
  // second. Lanes have 8 keys of the first chunk, of the second, then the next
  // 8 keys.
  Value queryRow = code.add(warpRow, code.remainder(lane, 16));
  Value queryChunk = code.divide(lane, 16);
  Value keyRow = code.add(code.multiply(code.divide(lane, 16), 8),
                          code.remainder(lane, 8));
  Value keyChunk = code.remainder(code.divide(lane, 8), 2);
  for (int64_t chunk = 0; chunk < depth / 8; chunk += 2) {
    SmallVector<Value> a = loadMatrices(
        code, chunkAt(queries, rowBytes, queryRow, code.add(queryChunk, chunk)),
        element);
    for (int64_t j = 0; j < keys / 8; j += 2) {
      SmallVector<Value> b =
          loadMatrices(code,
                       chunkAt(keysTile, rowBytes, code.add(keyRow, 8 * j),
                               code.add(keyChunk, chunk)),
                       element);
      multiplyAdd(a, ArrayRef(b).take_front(2), sums, numColumns, j);
      multiplyAdd(a, ArrayRef(b).drop_front(2), sums, numColumns, j + 1);
    }
  }
  return sums;
}

SmallVector<Value> MatrixHeads::accumulate(ArrayRef<Value> probabilities,
                                           Value values, ArrayRef<Value> sums) {
  const int64_t rowBytes = attention.rowBytes(width);
  SmallVector<Value> next(sums);
  // Matrices are transposed: lanes have 16 values of the first chunk, then of
  // the second.
  Value valueRow = code.remainder(lane, 16);
  Value valueChunk = code.divide(lane, 16);
  for (int64_t k = 0; k < keys; k += 16) {
    SmallVector<Value> a;
    for (int64_t tile = 0; tile < 2; ++tile)
      for (int64_t i = 0; i < numRows; ++i) {
        const size_t at = size_t(i * numColumns + 2 * (k / 8 + tile));
        a.push_back(roundPair(probabilities[at], probabilities[at + 1]));
      }
    for (int64_t j = 0; j < width / 8; j += 2) {
      SmallVector<Value> b =
          loadMatrices(code,
                       chunkAt(values, rowBytes, code.add(valueRow, k),
                               code.add(valueChunk, j)),
                       element, /*isTransposed=*/true);
      multiplyAdd(a, ArrayRef(b).take_front(2), next, numOutputs, j);
      multiplyAdd(a, ArrayRef(b).drop_front(2), next, numOutputs, j + 1);
    }
  }
  return next;
}
