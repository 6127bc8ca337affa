//===- MicroKernel.h - a register tile of a product -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_PRODUCTS_MICROKERNEL_H
#define INGOT_PASSES_CPU_PRODUCTS_MICROKERNEL_H

#include "dialects/cpu/CpuDialect.h"
#include "passes/cpu/kernels/Addressing.h"
#include "passes/cpu/schedule/Tiling.h"

namespace ingot::cpu {

/// Where a tile that widens weights as it reads them keeps them: those from
/// element `from` on, one in `share` of which is of the tile's columns.
struct KeptWeights {
  mlir::Value data;
  Index from;
  int64_t share;
};

/// The register tile at hand: as planned, or a smaller one at a border.
struct Tile {
  int64_t rows, vectors;
  /// Elements of a vector, and of the last one those within the tensor.
  int64_t lanes, lastLanes;
  bool hasFMA;
  Product product = Product::f32;
  /// Of each AMX tile.
  int64_t amxRows = 0;
  /// The first rows that another tile has stored.
  Index done = 0;
  /// Rows from here on are behind the last one, which they read; all there are,
  /// if nothing is said.
  std::optional<Index> end = std::nullopt;
  std::optional<KeptWeights> kept = std::nullopt;
  /// The lanes of the last vector that are within the tensor where only a run
  /// knows them.
  mlir::Value lastMask = nullptr;

  int64_t columns() const { return (vectors - 1) * lanes + lastLanes; }
  bool isPart() const { return done.value || done.constant != 0 || end; }
  Tile withDone(Index rows) const {
    Tile tile = *this;
    tile.done = rows;
    return tile;
  }
  Tile withEnd(Index row) const {
    Tile tile = *this;
    tile.end = row;
    return tile;
  }
  Tile withRows(int64_t rows) const {
    Tile tile = *this;
    tile.rows = rows;
    return tile;
  }
};

/// One accumulator a row and vector, row by row; AMX tiles likewise.
using Accumulators = llvm::SmallVector<mlir::Value>;

Accumulators zeroAccumulators(IndexBuilder &b, const Tile &tile);

/// `scf.for` from `begin` to `end` that carries the accumulators.
Accumulators
forEach(IndexBuilder &b, Index begin, Index end, const Accumulators &start,
        llvm::function_ref<Accumulators(mlir::Value, const Accumulators &)>
            body);

/// The sums, of `types`, that `then` gives where `condition` holds, else those
/// that `otherwise` does.
Accumulators choose(IndexBuilder &b, mlir::TypeRange types,
                    mlir::Value condition,
                    llvm::function_ref<Accumulators()> then,
                    llvm::function_ref<Accumulators()> otherwise);

/// What `body` gives where `condition` holds, else `sums` as they are.
Accumulators updateIf(IndexBuilder &b, mlir::Value condition,
                      const Accumulators &sums,
                      llvm::function_ref<Accumulators()> body);

/// `forEach` without anything to carry.
void forEach(IndexBuilder &b, Index begin, Index end, int64_t step,
             llvm::function_ref<void(mlir::Value)> body);

/// Goes through [0, depth) in blocks of `size`, the last of what is left.
Accumulators
forEachBlock(IndexBuilder &b, int64_t depth, int64_t size,
             const Accumulators &start,
             llvm::function_ref<Accumulators(Index from, int64_t size,
                                             const Accumulators &)>
                 body);
void forEachBlock(IndexBuilder &b, int64_t depth, int64_t size,
                  llvm::function_ref<void(Index from, int64_t size)> body);

/// Splits `all` as evenly as parts of at most `most` allow, so that no part is
/// much smaller than the others, and runs `body` for each part.
void forEachPart(IndexBuilder &b, int64_t all, int64_t most,
                 llvm::function_ref<void(int64_t count, Index first)> body);

/// x * y + sum, in one instruction where the target has one.
mlir::Value multiplyAddVectors(IndexBuilder &b, bool hasFMA, mlir::Value x,
                               mlir::Value y, mlir::Value sum);

/// A vector of bf16 or f16 as f32; others as they are.
mlir::Value widenFloats(IndexBuilder &b, mlir::Value vector);

/// VNNI's instructions that multiply bytes, for vectors of 128, 256 and 512
/// bits.
inline constexpr llvm::StringRef kDotsOfFours[] = {
    "llvm.x86.avx512.vpdpbusd.128", "llvm.x86.avx512.vpdpbusd.256",
    "llvm.x86.avx512.vpdpbusd.512"};

/// Adds the products of four unsigned bytes and four signed weights in each
/// lane, by VNNI; both may be given as words of these.
mlir::Value multiplyAddFours(IndexBuilder &b, mlir::Value bytes,
                             mlir::Value weights, mlir::Value sum);

/// The scalar in every lane.
mlir::Value splat(IndexBuilder &b, int64_t lanes, mlir::Value scalar);
mlir::Value splatInt(IndexBuilder &b, mlir::VectorType type, int64_t value);

/// Element `i` of each pair of bf16, in words of 32 bits, as f32.
mlir::Value widenHalf(IndexBuilder &b, mlir::Value pairs, int64_t i);

/// The vector of a tile of one vector at `data[at]`: what is behind the
/// tensor's end is not read.
mlir::Value loadPart(IndexBuilder &b, const Tile &tile, mlir::Value data,
                     Index at);

/// The block that the kernel that is being written starts with, where its stack
/// is laid out.
mlir::Block &entryOf(IndexBuilder &b);
/// Room on the stack of that kernel.
mlir::Value createScratch(IndexBuilder &b, mlir::MemRefType type);
mlir::Value createScratch(IndexBuilder &b, int64_t elements, mlir::Type type);

/// Writes accumulators to `scratch[at]` and on, and reads them back.
void spill(IndexBuilder &b, const Tile &tile, const Accumulators &sums,
           mlir::Value scratch, Index at);
Accumulators reload(IndexBuilder &b, const Tile &tile, mlir::Value scratch,
                    Index at);

/// The element type of accumulators.
mlir::Type sumType(IndexBuilder &b, const Tile &tile);

/// Where one vector of the output lies, and how much of it.
struct Place {
  llvm::SmallVector<Index> coordinates;
  int64_t lanes, valid;
  /// The lanes within the tensor where only a run knows them.
  mlir::Value mask;

  bool isWhole() const { return !mask && valid == lanes; }
};

/// The lanes of a place that are within the tensor.
mlir::Value maskOf(IndexBuilder &b, const Place &place);

/// Where a kernel's results go, through its epilogue.
struct Output {
  Output(IndexBuilder &b, kernel::EpilogueOpInterface op);

  /// Whether a pixel's results are the same if they are computed and stored
  /// again: the epilogue reads nothing that they may have overwritten.
  bool mayStoreAgain() const;

  kernel::EpilogueOpInterface op;
  Flat dst;
  llvm::SmallVector<Flat> operands;
};

/// What the ops of `body` yield of vectors of its arguments; or what becomes of
/// its values `wanted`.
llvm::SmallVector<mlir::Value> evaluate(IndexBuilder &b, mlir::Block &body,
                                        mlir::ValueRange arguments,
                                        int64_t lanes,
                                        mlir::ValueRange wanted = {});

/// How many instructions the epilogue of a vector takes, roughly.
int64_t epilogueCost(kernel::EpilogueOpInterface op);

/// What the epilogue of one vector takes: the sum, and operands at its place.
llvm::SmallVector<mlir::Value> epilogueArguments(IndexBuilder &b,
                                                 const Output &output,
                                                 mlir::Value sum,
                                                 const Place &place);

/// What the epilogue yields of one vector.
llvm::SmallVector<mlir::Value> runEpilogue(IndexBuilder &b,
                                           const Output &output,
                                           mlir::Value sum, const Place &place);

/// Runs the epilogue over the vectors of a row of a tile and stores them as
/// words of signs, of which dst has `signs` in a pixel. `coordinates` are those
/// of the first.
void storeSigns(IndexBuilder &b, const Tile &tile, const Output &output,
                int64_t signs, mlir::ValueRange sums,
                llvm::ArrayRef<Index> coordinates);

/// Runs the epilogue over one vector and stores it.
void storeVector(IndexBuilder &b, const Output &output, mlir::Value sum,
                 const Place &place);

/// Runs the epilogue over the accumulators and stores them. `rowAt(b, row)` are
/// the coordinates of a row's first element in dst. `offsets`, if there are
/// any, are added first: one for each vector of all rows.
void storeTile(
    IndexBuilder &b, const Tile &tile, const Output &output,
    const Accumulators &sums,
    llvm::function_ref<llvm::SmallVector<Index>(IndexBuilder &, Index row)>
        rowAt,
    const Accumulators &offsets = {});

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_MICROKERNEL_H
