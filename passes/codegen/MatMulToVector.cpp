//===- MatMulToVector.cpp - cpu-matmul-to-vector --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for batch, block of rows, column tile: what it reads of src and weights stays
//   in the second-level cache
//   for row tile (its rows of src stay in the first-level cache)
//     for k: accumulators += src[row, k] * weights[k, column]
//     epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/codegen/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_MATMULTOVECTOR
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::MatMulOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op) {}

  void emit(Value task);
  void emitColumns(const Tile &tile, ArrayRef<Index> batch, Index columnTile,
                   Index firstRow, Index endRow);
  void emitTile(const Tile &tile, ArrayRef<Index> batch, Index columnTile,
                Index row);

  IndexBuilder b;
  cpu::MatMulOp op;
  MatMulPlan plan;
  Flat src, weights;
  Output output;
};

struct MatMulToVectorPass : ingot::impl::MatMulToVectorBase<MatMulToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    MatMulToVectorBase::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect, x86vector::X86VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::MatMulOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  ArrayRef<int64_t> shape = output.dst.shape;
  int64_t numBatchDims = shape.size() - 2;
  Index rows = dimOf(b, op.getDst(), numBatchDims);
  Value inBatch = task;
  SmallVector<Index> batch;
  if (numBatchDims) {
    Index blocks = b.div(b.add(rows, plan.grid.rowsPerTask - 1),
                         plan.grid.rowsPerTask);
    Value perBatch = b.get(b.mul(blocks, plan.columnBlocks()));
    Value number = arith::DivUIOp::create(b.b, b.loc, task, perBatch);
    inBatch = arith::RemUIOp::create(b.b, b.loc, task, perBatch);
    batch = coordinatesOf(b, op.getDst(), numBatchDims, Index(number));
  }
  TaskRange range = rangeOf(b, inBatch, plan.grid, rows, plan.tiles);
  forEachColumnTile(
      b, range.firstTile, range.endTile, plan.tiles,
      fullTile(plan.unit, plan.tile),
      lastTile(plan.unit, plan.tile, shape.back()),
      [&](Value columnTile, const Tile &tile) {
        emitColumns(tile, batch, Index(columnTile), range.firstRow,
                    range.endRow);
      });
}

/// All row tiles of one column tile: full ones, then what is left.
void Emitter::emitColumns(const Tile &tile, ArrayRef<Index> batch,
                          Index columnTile, Index firstRow, Index endRow) {
  SmallVector<int64_t> sizes = {tile.rows};
  if (ShapedType::isDynamic(plan.rows)) {
    llvm::copy_if(ArrayRef<int64_t>{4, 1}, std::back_inserter(sizes),
                  [&](int64_t size) { return size < tile.rows; });
  } else if (int64_t rest = plan.rows % tile.rows) {
    sizes.push_back(rest);
  }
  Index row = firstRow;
  for (int64_t size : sizes) {
    // Rows up to here are in tiles of this size.
    Index whole = b.div(b.add(endRow, b.mul(row, -1)), size);
    Index end = size == sizes.back() ? endRow : b.add(row, b.mul(whole, size));
    forEach(b, row, end, size, [&](Value at) {
      emitTile(tile.withRows(size), batch, columnTile, Index(at));
    });
    row = end;
  }
}

void Emitter::emitTile(const Tile &tile, ArrayRef<Index> batch,
                       Index columnTile, Index row) {
  int64_t width = plan.tile.vectors * plan.unit.lanes;
  SmallVector<Index> at(batch);
  at.append({row, 0});
  Index first = src.at(b, at);
  Rows rows(b, src.data, first, src.strides[src.strides.size() - 2], tile.rows);

  SmallVector<Index> panelAt;
  if (plan.weights.outer.size() > 1)
    panelAt.append(batch.begin(), batch.end());
  panelAt.append({b.div(columnTile, plan.tilesPerPanel), 0,
                  b.mul(b.rem(columnTile, plan.tilesPerPanel), width)});
  panelAt.resize(weights.shape.size(), Index(0));
  Accumulators sums = multiplyAddWhole(
      b, tile, rows, weights.data, weights.at(b, panelAt), plan.panel,
      src.shape.back(),
      zeroAccumulators(b, tile), op);
  Index column = b.mul(columnTile, width);
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(batch);
              coordinates.append({b.add(row, inTile), column});
              return coordinates;
            });
}
