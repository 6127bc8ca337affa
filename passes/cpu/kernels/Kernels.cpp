//===- Kernels.cpp - helpers for the code of kernels ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/Kernels.h"

#include "dialects/ingot/IngotDialect.h"
#include "passes/cpu/schedule/CountTasks.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

FailureOr<Value> cpu::taskOf(Operation *op) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  if (op->getNumResults() == 0 && kernel && kernel.getNumArguments() != 0 &&
      kernel.getArguments().back().getType().isIndex())
    return Value(kernel.getArguments().back());
  return op->emitOpError("expects to be in a kernel: outline-kernels makes it");
}

TaskRange cpu::rangeOf(IndexBuilder &b, Value number, const Grid &grid,
                       Index rows, int64_t tiles) {
  TaskSplit split = splitTasks(b, grid, rows, tiles);
  Index inner = grid.rowsOutside ? split.columnBlocks : split.rowBlocks;
  Index row = b.rem(Index(number), inner), column = b.div(Index(number), inner);
  if (grid.rowsOutside)
    std::swap(row, column);
  TaskRange range;
  range.firstRow = b.mul(row, split.rowsPerTask);
  range.endRow = b.min(b.add(range.firstRow, split.rowsPerTask), rows);
  range.firstTile = b.mul(column, split.tilesPerTask);
  range.endTile = b.min(b.add(range.firstTile, split.tilesPerTask), tiles);
  return range;
}

//===----------------------------------------------------------------------===//
// Column tiles
//===----------------------------------------------------------------------===//

Tile cpu::fullTile(const TargetInfo &target, const RegisterTile &tile) {
  return {tile.rows,   tile.vectors, target.lanes,  target.lanes,
          target.hasFMA, tile.product, tile.amxRows};
}

Tile cpu::lastTile(const TargetInfo &target, const RegisterTile &tile,
                   int64_t columns) {
  Tile last = fullTile(target, tile);
  int64_t rest = columns % (tile.vectors * target.lanes);
  if (rest == 0)
    return last;
  last.vectors = llvm::divideCeil(rest, target.lanes);
  last.lastLanes = rest - (last.vectors - 1) * target.lanes;
  return last;
}

void cpu::forEachColumnTile(IndexBuilder &b, const ColumnTiles &tiles,
                            const Tile &full, const Tile &last,
                            function_ref<void(Value, const Tile &)> body) {
  const Index begin = tiles.begin, end = tiles.end;
  const int64_t count = tiles.count;
  bool isUniform = full.columns() == last.columns();
  Index endFull = isUniform ? end : b.min(end, count - 1);
  forEach(b, begin, endFull, 1, [&](Value tile) { body(tile, full); });
  if (isUniform)
    return;
  if (!end.value && end.constant == count) {
    body(b.get(count - 1), last);
    return;
  }
  b.branch(b.compare(arith::CmpIPredicate::eq, end, count),
           [&] { body(b.get(count - 1), last); });
}

void cpu::forEachProductTile(
    IndexBuilder &b, Value task, Value dst, const Plan &plan, const Tile &last,
    function_ref<void(const Tile &tile, ArrayRef<Index> batch, Index columnTile,
                      const TaskRange &range)>
        body) {
  int64_t numBatchDims = cast<ShapedType>(dst.getType()).getRank() - 2;
  Index rows = dimOf(b, dst, numBatchDims);
  Value inBatch = task;
  SmallVector<Index> batch;
  if (numBatchDims) {
    TaskSplit split = splitTasks(b, plan.grid, rows, plan.tiles);
    Value perBatch = b.get(b.mul(split.rowBlocks, split.columnBlocks));
    Value number = arith::DivUIOp::create(b.b, b.loc, task, perBatch);
    inBatch = arith::RemUIOp::create(b.b, b.loc, task, perBatch);
    batch = coordinatesOf(b, dst, numBatchDims, Index(number));
  }
  TaskRange range = rangeOf(b, inBatch, plan.grid, rows, plan.tiles);
  forEachColumnTile(b, {range.firstTile, range.endTile, plan.tiles},
                    fullTile(plan.target, plan.tile), last,
                    [&](Value columnTile, const Tile &tile) {
                      body(tile, batch, Index(columnTile), range);
                    });
}

//===----------------------------------------------------------------------===//
// Functions of tiles
//===----------------------------------------------------------------------===//

void cpu::buildInFunction(IndexBuilder &b, Operation *op,
                          function_ref<void()> body) {
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto region = scf::ExecuteRegionOp::create(b.b, b.loc, TypeRange());
  {
    OpBuilder::InsertionGuard guard(b.b);
    b.b.createBlock(&region.getRegion());
    body();
    func::ReturnOp::create(b.b, b.loc);
  }
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(region.getRegion(), captured);
  ValueRange arguments = captured.getArrayRef();
  auto function = func::FuncOp::create(
      b.loc, (kernel.getName() + ".tiles").str(),
      b.b.getFunctionType(arguments.getTypes(), {}));
  function.setPrivate();
  for (NamedAttribute attribute : kernel->getDiscardableAttrs())
    function->setAttr(attribute.getName(), attribute.getValue());
  SymbolTable(kernel->getParentOp()).insert(function);
  func::CallOp::create(b.b, b.loc, function, arguments);
  function.getBody().takeBody(region.getRegion());
  region.erase();
  for (Value value : arguments)
    replaceAllUsesInRegionWith(
        value, function.getBody().addArgument(value.getType(), b.loc),
        function.getBody());
}
