//===- TileLoader.h - copies of factors to shared memory --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_PRODUCTS_TILELOADER_H
#define INGOT_PASSES_CUDA_PRODUCTS_TILELOADER_H

#include "passes/cuda/kernels/Code.h"
#include "passes/cuda/products/Product.h"

namespace ingot::cuda {

/// The place of a chunk of 16 bytes in a tile in shared memory. Rows lie behind
/// each other. The chunks of a row are permuted, so that neighboring rows have
/// the same chunk in different banks.
class TileLayout {
public:
  TileLayout(Code &code, int64_t depthBytes)
      : code(code), depthBytes(depthBytes) {}

  /// Returns the offset of a chunk in bytes.
  Value offsetOf(Value row, Value chunk) const;

private:
  Code &code;
  int64_t depthBytes;
};

/// Element `offset` behind `address` in global memory.
struct GlobalPlace {
  Value address;
  Type element;
  Value offset;
};

/// Byte `offset` of a tile in shared memory.
struct SharedPlace {
  Value tile, offset;
};

/// Copies `bytes` bytes, asynchronously if possible, from global to shared
/// memory. If `isInside` is false, they become 0; null stands for true.
void copyToShared(Code &code, const GlobalPlace &source,
                  const SharedPlace &target, Value isInside, int64_t bytes);

/// Copies tiles of one factor from global to shared memory. Each thread copies
/// the same pieces of each tile. Elements outside of the factor become 0.
class TileLoader {
public:
  /// Makes a loader for the rows of src from `firstRow` on.
  static TileLoader ofSrc(Code &code, const Product &product, Value thread,
                          Value firstRow, Value batch);
  /// Makes a loader for the rows of weights from `firstRow` on, which are
  /// columns of the result.
  static TileLoader ofWeights(Code &code, const Product &product, Value thread,
                              Value firstRow, Value batch);

  /// Copies the tile of step `step`, whose first byte is `tile`.
  void load(Value step, Value tile) const;
  /// Returns the bytes of a tile.
  int64_t tileBytes() const { return numRows * depthBytes; }

private:
  /// A part of a row that a thread copies.
  struct Piece {
    /// Offset of the row in global memory, and of the piece in the tile.
    Value base, place;
    /// The first pixel of the row's window in each dimension that is padded.
    llvm::SmallVector<Value> pixels;
    /// True if the factor has the row; null if it has all rows.
    Value isRow;
    /// True if the tile has the row; null if it has the rows of all threads.
    Value isInTile;
  };

  /// A tile, and how a block copies it.
  struct Tile {
    Type element;
    int64_t depthBytes, pieceBytes, numRows, threads;
  };

  TileLoader(Code &code, const Tile &tile, Value thread);
  void addPieces(llvm::function_ref<Piece(Value row)> makePiece);

  Code *code;
  Value thread, address;
  Type element;
  int64_t depthBytes, pieceBytes, numRows, threads;
  /// Elements of a row in global memory, and of a step.
  Number depth = 0;
  int64_t stepElements;
  /// Elements of a tap, if a row has several taps, and their stride.
  std::optional<int64_t> channels;
  Number channelStride = 1;
  llvm::SmallVector<WindowDim> windows;
  llvm::SmallVector<Number> windowStrides;
  /// The first element of the thread's pieces in a step.
  Value firstElement;
  llvm::SmallVector<Piece> pieces;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_PRODUCTS_TILELOADER_H
