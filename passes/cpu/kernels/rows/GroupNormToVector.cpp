//===- GroupNormToVector.cpp - cpu-group-norm-to-vector -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Group normalization:
//
//     for sample, for block of whole groups
//       for tile of channels: mean over all positions
//       mean of each group, kept once a channel
//       for tile of channels: mean of (x - mean)^2
//       1 / sqrt(that + epsilon) of each group, kept once a channel
//       for position, tile of channels: (x - mean) * factor; epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_GROUPNORMTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::GroupNormOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), lanes(plan.target.lanes),
        src(b, op.getSrc()), output(b, op),
        positions(dimOf(b, op.getSrc(), 1)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(
        &op->getParentOfType<func::FuncOp>().getBody().front());
    means = allocate();
    factors = allocate();
  }

  void emit(Value task);
  void emitBlock(Index sample, Index channel, const Tile &block);
  void forEachTile(const Tile &block,
                   function_ref<void(Index at, const Tile &tile)> body);
  void averageGroups(Value perChannel, const Tile &block,
                     function_ref<Value(Value)> finish);
  Value allocate() {
    return memref::AllocaOp::create(
        b.b, b.loc,
        MemRefType::get({plan.tile.vectors * lanes}, b.b.getF32Type()),
        b.b.getI64IntegerAttr(64));
  }

  IndexBuilder b;
  cpu::GroupNormOp op;
  ColumnPlan plan;
  int64_t lanes;
  Flat src;
  Output output;
  Index positions;
  /// The mean and the factor of each channel of a block.
  Value means, factors;
};

struct GroupNormToVectorPass
    : ingot::impl::GroupNormToVectorBase<GroupNormToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::GroupNormOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  int64_t channels = src.shape[2];
  TaskRange range =
      rangeOf(b, task, plan.grid, dimOf(b, op.getSrc(), 0), plan.tiles);
  // Allows a partial last vector, because blocks consist of whole groups.
  int64_t perBlock = plan.channelsPerTile;
  auto blockOf = [&](int64_t count) {
    Tile block = fullTile(plan.target, plan.tile);
    block.vectors = (count + lanes - 1) / lanes;
    block.lastLanes = count - (block.vectors - 1) * lanes;
    return block;
  };
  forEachColumnTile(b, {range.firstTile, range.endTile, plan.tiles},
                    blockOf(perBlock),
                    blockOf(channels - (plan.tiles - 1) * perBlock),
                    [&](Value number, const Tile &block) {
                      emitBlock(range.firstRow, b.mul(Index(number), perBlock),
                                block);
                    });
}

/// Splits a block into tiles of up to four vectors.
void Emitter::forEachTile(const Tile &block,
                          function_ref<void(Index, const Tile &)> body) {
  int64_t most = 4, rest = (block.vectors - 1) % most + 1;
  Tile tile = block;
  tile.vectors = most;
  tile.lastLanes = lanes;
  forEach(b, 0, (block.vectors - rest) * lanes, most * lanes,
          [&](Value at) { body(Index(at), tile); });
  tile.vectors = rest;
  tile.lastLanes = block.lastLanes;
  body((block.vectors - rest) * lanes, tile);
}

/// Computes the mean of each group from `perChannel`, the sums of its channels.
/// Then sets the elements of all channels of the group to `finish(mean)`.
void Emitter::averageGroups(Value perChannel, const Tile &block,
                            function_ref<Value(Value)> finish) {
  int64_t size = src.shape[2] / op.getGroups();
  Value count = toFloat(b, b.mul(positions, size));
  forEach(b, 0, block.columns(), size, [&](Value first) {
    TargetInfo target = plan.target;
    Value sum = foldRow(b, target, size, FoldKind::sum,
                        [&](IndexBuilder &b, const Piece &piece) {
                          return loadPiece(b, lanes, perChannel,
                                           b.add(Index(first), piece.at),
                                           piece.mask);
                        });
    Value mean = arith::DivFOp::create(b.b, b.loc, sum, count);
    Value all = splat(b, lanes, finish(mean));
    forEachPiece(b, target, size, [&](IndexBuilder &b, const Piece &piece) {
      Value at = b.get(b.add(Index(first), piece.at));
      if (piece.mask)
        vector::MaskedStoreOp::create(b.b, b.loc, perChannel, at, piece.mask,
                                      all);
      else
        vector::StoreOp::create(b.b, b.loc, all, perChannel, at);
    });
  });
}

void Emitter::emitBlock(Index sample, Index channel, const Tile &block) {
  auto centered = [&](IndexBuilder &b, Index position, Index inBlock,
                      const Tile &tile, int64_t v, bool hasMean) -> Value {
    Index inVector = b.add(inBlock, v * lanes);
    Index at = src.at(b, {sample, position, b.add(channel, inVector)});
    Value x = loadPiece(b, lanes, src.data, at, maskOfVector(b, tile, v));
    if (!hasMean)
      return x;
    return arith::SubFOp::create(b.b, b.loc, x,
                                 loadPiece(b, lanes, means, inVector, {}));
  };
  auto sumUp = [&](Value perChannel, bool isVariance) {
    forEachTile(block, [&](Index inBlock, const Tile &tile) {
      Tile sideBySide = tile.withRows(std::max<int64_t>(
          plan.target.sumsInFlight() / tile.vectors, 1));
      Accumulators sums = foldColumns(
          b, sideBySide, positions, FoldKind::sum,
          [&](IndexBuilder &b, Index position, int64_t v) -> Value {
            Value x = centered(b, position, inBlock, tile, v, isVariance);
            if (!isVariance)
              return x;
            return squareVector(b, x);
          });
      for (auto [v, sum] : llvm::enumerate(sums))
        vector::StoreOp::create(
            b.b, b.loc, sum, perChannel,
            b.get(b.add(inBlock, int64_t(v) * lanes)));
    });
  };
  sumUp(means, /*isVariance=*/false);
  averageGroups(means, block, [](Value mean) { return mean; });
  sumUp(factors, /*isVariance=*/true);
  averageGroups(factors, block, [&](Value variance) -> Value {
    Value shifted = arith::AddFOp::create(
        b.b, b.loc, variance,
        floatConstant(b, op.getEpsilon().convertToDouble()));
    Value root = math::SqrtOp::create(b.b, b.loc, shifted);
    return arith::DivFOp::create(b.b, b.loc, floatConstant(b, 1), root);
  });
  forEach(b, 0, positions, 1, [&](Value position) {
    forEachTile(block, [&](Index inBlock, const Tile &tile) {
      Accumulators results;
      for (int64_t v = 0; v < tile.vectors; ++v)
        results.push_back(arith::MulFOp::create(
            b.b, b.loc,
            centered(b, Index(position), inBlock, tile, v, /*hasMean=*/true),
            loadPiece(b, lanes, factors, b.add(inBlock, v * lanes), {})));
      storeTile(b, tile.withRows(1), output, results,
                [&](IndexBuilder &b, Index) -> SmallVector<Index> {
                  return {sample, Index(position), b.add(channel, inBlock)};
                });
    });
  });
}
