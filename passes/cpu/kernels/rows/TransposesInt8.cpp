//===- TransposesInt8.cpp - transpositions that convert bytes -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transpositions that convert f32 to bytes, or bytes to f32. In between, the
// bytes of four rows are packed in words. Contiguous pixels of up to four bytes
// are such words already, so they need no transposition.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/TransposeEmitter.h"
#include "passes/cpu/kernels/rows/Transposes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of pixels whose words fill 128 bits.
static constexpr int64_t kPixels = 4;

void TransposeEmitter::findFew() {
  bool isSrc = !computesFirst(src, dst);
  OpOperand &bytes = isSrc ? src : dst;
  int64_t within = isSrc ? row : column, across = isSrc ? column : row;
  auto type = cast<MemRefType>(bytes.get().getType());
  ArrayRef<AffineExpr> dims = op.getMatchingIndexingMap(&bytes).getResults();
  SmallVector<int64_t> strides;
  int64_t offset, count = op.getStaticLoopRanges()[within];
  if (ShapedType::isDynamic(count) || count > 4 || dims.size() < 2 ||
      cast<AffineDimExpr>(dims.drop_back().back()).getPosition() != across ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides[strides.size() - 2] != count || type.getShape().back() != count)
    return;
  few = count;
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i < type.getRank() - 1; ++i)
    groups.push_back({i});
  groups.back().push_back(type.getRank() - 1);
  pixels = memref::CollapseShapeOp::create(b.b, b.loc, bytes.get(), groups);
}

/// Returns the indices in `pixels` of the pixel that is `pixel` pixels behind
/// the current position.
SmallVector<Value> TransposeEmitter::atPixel(OpOperand &bytes, int64_t pixel) {
  SmallVector<Value> coordinates = at(bytes);
  coordinates.pop_back();
  coordinates.back() =
      b.get(b.mul(b.add(Index(coordinates.back()), pixel), few));
  return coordinates;
}

/// Loads `count` pixels as words.
Value TransposeEmitter::loadPixels(int64_t count) {
  auto four = VectorType::get({kPixels}, b.b.getI32Type());
  // Repeats the last byte of a pixel in the unused bytes of its word.
  SmallVector<int64_t> spread;
  for (int64_t i = 0; i < kByteSquare; ++i)
    spread.push_back(i / 4 * few + std::min(i % 4, few - 1));
  SmallVector<Value> words;
  for (int64_t first = 0; first < kByteSquare; first += kPixels) {
    int64_t bytes = few * std::min(kPixels, count - first);
    Value part = splatInt(b, four, 0);
    if (bytes > 0) {
      Value loaded = loadFirst(kByteSquare, bytes, pixels, atPixel(src, first));
      part = vector::BitCastOp::create(
          b.b, b.loc, four,
          vector::ShuffleOp::create(b.b, b.loc, loaded, loaded, spread));
    }
    words.push_back(part);
  }
  return concatenate(b, words);
}

void TransposeEmitter::storePixels(Value words, int64_t count) {
  auto type = VectorType::get({kByteSquare}, b.b.getI8Type());
  SmallVector<int64_t> joined;
  for (int64_t i = 0; i < kByteSquare; ++i)
    joined.push_back(i < kPixels * few ? i / few * 4 + i % few : 0);
  for (int64_t first = 0; first < count; first += kPixels) {
    Value part = vector::ShuffleOp::create(
        b.b, b.loc, words, words,
        llvm::to_vector(llvm::seq(first, first + kPixels)));
    Value bytes = vector::BitCastOp::create(b.b, b.loc, type, part);
    bytes = vector::ShuffleOp::create(b.b, b.loc, bytes, bytes, joined);
    int64_t left = few * (count - first);
    // Stores whole vectors of three-byte pixels if there is room. The excess
    // bytes are overwritten by the next store.
    bool isWhole = few == 3 && left >= kByteSquare;
    storeFirst(bytes, isWhole ? kByteSquare : std::min(left, kPixels * few),
               pixels, atPixel(dst, first));
  }
}

void TransposeEmitter::emitToBytes(Index firstRow, int64_t numRows,
                                   Index firstColumn, int64_t numColumns) {
  // Packs words before the truncation to bytes, if the body ends with a
  // truncation.
  Value result = op.getBlock()->getTerminator()->getOperand(0);
  auto words = VectorType::get({kByteSquare}, b.b.getI32Type());
  auto cut = result.getDefiningOp<arith::TruncIOp>();
  bool isCut = cut && cut.getIn().getType().isInteger(32);
  position[row] = firstRow;
  SmallVector<Value> joined;
  for (int64_t first = 0; first < numColumns; first += 4) {
    SmallVector<Value> rows;
    for (int64_t i = first; i < std::min(first + 4, numColumns); ++i) {
      position[column] = b.add(firstColumn, i);
      Value loaded = loadFirst(side, numRows, src.get(), at(src));
      Value computed = compute(loaded, isCut ? cut.getIn() : result);
      rows.push_back(isCut
                         ? computed
                         : arith::ExtUIOp::create(b.b, b.loc, words, computed));
    }
    joined.push_back(joinBytes(b, rows));
  }
  position[column] = firstColumn;
  if (few != 0)
    return storePixels(joined[0], numRows);
  SmallVector<Value> columns = transposeWords(b, joined);
  for (int64_t i = 0; i < numRows; ++i) {
    position[row] = b.add(firstRow, i);
    storeFirst(columns[i], numColumns, dst.get(), at(dst));
  }
}

void TransposeEmitter::emitFromBytes(Index firstRow, int64_t numRows,
                                     Index firstColumn, int64_t numColumns) {
  position[row] = firstRow;
  position[column] = firstColumn;
  SmallVector<Value> words;
  if (few != 0) {
    words.push_back(loadPixels(numColumns));
  } else {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < numColumns; ++i) {
      position[column] = b.add(firstColumn, i);
      rows.push_back(loadFirst(side, numRows, src.get(), at(src)));
    }
    rows.resize(side, splatInt(b, cast<VectorType>(rows[0].getType()), 0));
    words = transposeToWords(b, rows);
    position[column] = firstColumn;
  }
  for (int64_t i = 0; i < numRows; ++i) {
    position[row] = b.add(firstRow, i);
    storeFirst(compute(byteOf(b, words[i / 4], i % 4)), numColumns, dst.get(),
               at(dst));
  }
}
