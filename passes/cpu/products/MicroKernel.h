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

/// The buffer for weights that a tile widens as it reads them. Weight `from` is
/// the first in the buffer. The buffer holds only the weights of the tile's
/// columns, which are one in `share` of all weights.
struct KeptWeights {
  mlir::Value data;
  Index from;
  int64_t share;
};

/// A register tile: as planned, or a smaller one at a border.
struct Tile {
  int64_t rows, vectors;
  /// The number of elements of a vector, and of elements of the last vector
  /// that lie within the tensor.
  int64_t lanes, lastLanes;
  bool hasFMA;
  Product product = Product::f32;
  /// The rows of each AMX tile.
  int64_t amxRows = 0;
  /// The number of rows at the start that another tile has stored.
  Index done = 0;
  /// The first row beyond the last valid row. Such rows read the last valid
  /// row. Without a value all rows are valid.
  std::optional<Index> end = std::nullopt;
  std::optional<KeptWeights> kept = std::nullopt;
  /// The lanes of the last vector within the tensor, if only a run knows them.
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

/// The accumulators of a tile, row by row, with one for each vector of a row.
/// AMX tiles have the same order.
using Accumulators = llvm::SmallVector<mlir::Value>;

Accumulators zeroAccumulators(IndexBuilder &b, const Tile &tile);

/// Builds an `scf.for` from `begin` to `end` that carries the accumulators.
Accumulators
forEach(IndexBuilder &b, Index begin, Index end, const Accumulators &start,
        llvm::function_ref<Accumulators(mlir::Value, const Accumulators &)>
            body);

/// Builds an `scf.if`. Returns the results of `then`, of type `types`, if
/// `condition` holds, else the results of `otherwise`.
Accumulators choose(IndexBuilder &b, mlir::TypeRange types,
                    mlir::Value condition,
                    llvm::function_ref<Accumulators()> then,
                    llvm::function_ref<Accumulators()> otherwise);

/// Returns the result of `body` if `condition` holds, else `sums`.
Accumulators updateIf(IndexBuilder &b, mlir::Value condition,
                      const Accumulators &sums,
                      llvm::function_ref<Accumulators()> body);

/// Builds a loop that carries no values.
void forEach(IndexBuilder &b, Index begin, Index end, int64_t step,
             llvm::function_ref<void(mlir::Value)> body);

/// Splits [0, depth) into blocks of `size`; the last block may be smaller.
Accumulators
forEachBlock(IndexBuilder &b, int64_t depth, int64_t size,
             const Accumulators &start,
             llvm::function_ref<Accumulators(Index from, int64_t size,
                                             const Accumulators &)>
                 body);
void forEachBlock(IndexBuilder &b, int64_t depth, int64_t size,
                  llvm::function_ref<void(Index from, int64_t size)> body);

/// Splits `all` into parts of nearly equal size, at most `most` each, and runs
/// `body` for each part.
void forEachPart(IndexBuilder &b, int64_t all, int64_t most,
                 llvm::function_ref<void(int64_t count, Index first)> body);

/// Returns x * y + sum, in one instruction if the target has it.
mlir::Value multiplyAddVectors(IndexBuilder &b, bool hasFMA, mlir::Value x,
                               mlir::Value y, mlir::Value sum);

/// Widens a vector of bf16 or f16 to f32; returns other vectors unchanged.
mlir::Value widenFloats(IndexBuilder &b, mlir::Value vector);

/// The VNNI instructions that multiply bytes, for vectors of 128, 256 and 512
/// bits.
inline constexpr llvm::StringRef kFourTermDots[] = {
    "llvm.x86.avx512.vpdpbusd.128", "llvm.x86.avx512.vpdpbusd.256",
    "llvm.x86.avx512.vpdpbusd.512"};

/// Adds the products of four unsigned bytes and four signed weights in each
/// lane, by VNNI. Both factors may be vectors of bytes or of 32-bit words.
mlir::Value multiplyAddGroupsOfFour(IndexBuilder &b, mlir::Value bytes,
                                    mlir::Value weights, mlir::Value sum);

/// Returns a vector with the scalar in every lane.
mlir::Value splat(IndexBuilder &b, int64_t lanes, mlir::Value scalar);
mlir::Value splatInt(IndexBuilder &b, mlir::VectorType type, int64_t value);

/// Widens element `i` of each pair of bf16, which a 32-bit word holds, to f32.
mlir::Value widenHalfOfVector(IndexBuilder &b, mlir::Value pairs, int64_t i);

/// Loads the vector at `data[at]` of a tile of one vector. Lanes beyond the
/// tensor's end are not read.
mlir::Value loadPart(IndexBuilder &b, const Tile &tile, mlir::Value data,
                     Index at);

/// Returns the entry block of the kernel, where its stack is laid out.
mlir::Block &entryOf(IndexBuilder &b);
/// Allocates memory on the kernel's stack.
mlir::Value createScratch(IndexBuilder &b, mlir::MemRefType type);
mlir::Value createScratch(IndexBuilder &b, int64_t elements, mlir::Type type);

/// Stores accumulators from `scratch[at]` on, and loads them back.
void spill(IndexBuilder &b, const Tile &tile, const Accumulators &sums,
           mlir::Value scratch, Index at);
Accumulators reload(IndexBuilder &b, const Tile &tile, mlir::Value scratch,
                    Index at);

/// Returns the element type of accumulators.
mlir::Type sumType(IndexBuilder &b, const Tile &tile);

/// The coordinates and the valid lanes of one vector of the output.
struct VectorAt {
  llvm::SmallVector<Index> coordinates;
  int64_t lanes, valid;
  /// The lanes within the tensor, if only a run knows them.
  mlir::Value mask;

  bool isWhole() const { return !mask && valid == lanes; }
};

/// Returns the mask of a vector's lanes that are within the tensor.
mlir::Value maskOf(IndexBuilder &b, const VectorAt &place);

/// The destination of a kernel's results, with its epilogue.
struct Output {
  Output(IndexBuilder &b, kernel::EpilogueOpInterface op);

  /// Returns true if a pixel may be computed and stored twice. The epilogue
  /// must not read memory that its results may have overwritten.
  bool mayStoreAgain() const;

  kernel::EpilogueOpInterface op;
  Flat dst;
  llvm::SmallVector<Flat> operands;
};

/// Evaluates the ops of `body` on vectors of its arguments. Returns the yielded
/// values, or the values that correspond to `wanted`.
llvm::SmallVector<mlir::Value> evaluate(IndexBuilder &b, mlir::Block &body,
                                        mlir::ValueRange arguments,
                                        int64_t lanes,
                                        mlir::ValueRange wanted = {});

/// Returns a rough count of instructions for the epilogue of a vector.
int64_t epilogueCost(kernel::EpilogueOpInterface op);

/// Returns the epilogue's arguments for one vector: the sum, and the operands'
/// elements at `place`.
llvm::SmallVector<mlir::Value> epilogueArguments(IndexBuilder &b,
                                                 const Output &output,
                                                 mlir::Value sum,
                                                 const VectorAt &place);

/// Returns the values that the epilogue yields for one vector.
llvm::SmallVector<mlir::Value> runEpilogue(IndexBuilder &b,
                                           const Output &output,
                                           mlir::Value sum,
                                           const VectorAt &place);

/// Runs the epilogue over the vectors of a row of a tile, and stores the signs
/// as words. A pixel of dst has `signs` words. `coordinates` are those of the
/// first vector.
void storeSigns(IndexBuilder &b, const Tile &tile, const Output &output,
                int64_t signs, mlir::ValueRange sums,
                llvm::ArrayRef<Index> coordinates);

/// Runs the epilogue over one vector, and stores it.
void storeVector(IndexBuilder &b, const Output &output, mlir::Value sum,
                 const VectorAt &place);

/// Runs the epilogue over the accumulators, and stores them. `rowAt(b, row)`
/// returns the coordinates of a row's first element in dst. `offsets`, if any,
/// are added first: one for each vector, the same for all rows.
void storeTile(
    IndexBuilder &b, const Tile &tile, const Output &output,
    const Accumulators &sums,
    llvm::function_ref<llvm::SmallVector<Index>(IndexBuilder &, Index row)>
        rowAt,
    const Accumulators &offsets = {});

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_PRODUCTS_MICROKERNEL_H
