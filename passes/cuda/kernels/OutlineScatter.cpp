//===- OutlineScatter.cpp - cuda-outline-scatter --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/Code.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/schedule/Machine.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Regions.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINESCATTER
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// Writes the kernel of a `cuda.scatter`. A thread has an item and an element
/// of a slice. One item of each position makes all updates of the position.
class ScatterEmitter {
public:
  ScatterEmitter(OpBuilder &b, ScatterOp op)
      : code(b, op.getLoc()), b(b), loc(op.getLoc()), op(op),
        isSorted(cast<MemRefType>(op.getItems().getType()).getRank() == 1) {}

  void emit(ValueRange memrefs);

private:
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  /// Returns the high or the low 32 bits of an item.
  Value positionOf(Value item) {
    return toNumber(arith::ShRUIOp::create(
        b, loc, item,
        arith::ConstantIntOp::create(b, loc, b.getI64Type(), 32)));
  }
  Value toNumber(Value word) {
    return arith::TruncIOp::create(b, loc, b.getI32Type(), word);
  }
  Value combine(Value old, Value update);
  Value hasPosition(Value number);
  void emitSorted();
  void emitLine();
  Value foldSorted(Value old);
  Value foldLine(Value old);

  Code code;
  OpBuilder &b;
  Location loc;
  ScatterOp op;
  bool isSorted;
  Value items, updates, dst;
  /// The thread's item, element of the slice, and position.
  Value number, element, position;
  /// Indices of the item in a line.
  SmallVector<Value> place;
};

struct OutlineScatterPass
    : ingot::impl::OutlineScatterBase<OutlineScatterPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the element behind an update.
Value ScatterEmitter::combine(Value old, Value update) {
  Block &body = op.getCombiner().front();
  IRMapping values;
  values.map(body.getArguments(), ArrayRef<Value>{old, update});
  for (Operation &inside : body.without_terminator())
    b.clone(inside, values);
  return values.lookup(body.getTerminator()->getOperand(0));
}

/// Returns true if the sorted item `number`, which may lie outside, has the
/// thread's position.
Value ScatterEmitter::hasPosition(Value number) {
  Number count = code.sizeOf(items, 0);
  Value last = code.add(code.valueOf(count), -1);
  Value at = arith::MinUIOp::create(b, loc, number, last);
  Value isSame = compare(arith::CmpIPredicate::eq,
                         positionOf(code.loadAt(items, {at})), position);
  return code.both(code.isWithin(number, count), isSame);
}

/// Returns the element behind the updates of the sorted items from the thread's
/// on that have its position. Loads several updates at a time, because one
/// after the other would each wait for memory.
Value ScatterEmitter::foldSorted(Value old) {
  Type types[] = {b.getI32Type(), old.getType()};
  auto loop = scf::WhileOp::create(b, loc, types, ValueRange{number, old});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, {loc, loc});
  Value first = before->getArgument(0), result = before->getArgument(1), more;
  Value last = code.add(code.valueOf(code.sizeOf(items, 0)), -1);
  SmallVector<Value> are, loaded;
  for (int64_t i = 0; i < kLoadedUpdates; ++i) {
    Value at = code.add(first, i);
    are.push_back(hasPosition(at));
    at = arith::MinUIOp::create(b, loc, at, last);
    loaded.push_back(
        code.loadAt(updates, {toNumber(code.loadAt(items, {at})), element}));
  }
  for (auto [is, update] : llvm::zip_equal(are, loaded)) {
    result = code.select(is, combine(result, update), result);
    more = is;
  }
  scf::ConditionOp::create(b, loc, more,
                           ValueRange{code.add(first, kLoadedUpdates), result});
  Block *after = b.createBlock(&loop.getAfter(), {}, types, {loc, loc});
  scf::YieldOp::create(b, loc, after->getArguments());
  return loop.getResult(1);
}

/// Writes the case of sorted items. The first item of a position makes its
/// updates. If updates replace each other, the last item alone does.
void ScatterEmitter::emitSorted() {
  position = positionOf(code.loadAt(items, {number}));
  Value isFree = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  Value beside = code.add(number, op.isReplacing() ? 1 : -1);
  isFree = code.exclusiveOr(hasPosition(beside), isFree);
  isFree = code.both(isFree, code.isWithin(position, code.sizeOf(dst, 0)));
  code.when(isFree, [&] {
    Value value;
    if (op.isReplacing())
      value = code.loadAt(updates,
                          {toNumber(code.loadAt(items, {number})), element});
    else
      value = foldSorted(code.loadAt(dst, {position, element}));
    code.storeAt(value, dst, {position, element});
  });
}

/// Returns the element behind the updates of the line, from the thread's on,
/// that have its position.
Value ScatterEmitter::foldLine(Value old) {
  auto loop =
      scf::ForOp::create(b, loc, place[1], code.valueOf(code.sizeOf(items, 1)),
                         code.number(1), ValueRange{old});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value item = code.loadAt(items, {place[0], loop.getInductionVar(), place[2]});
  auto branch = scf::IfOp::create(
      b, loc, TypeRange{old.getType()},
      compare(arith::CmpIPredicate::eq, positionOf(item), position),
      /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    Value before = loop.getRegionIterArg(0);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, before);
    b.setInsertionPointToStart(branch.thenBlock());
    Value update = code.loadAt(updates, {toNumber(item), element});
    scf::YieldOp::create(b, loc, combine(before, update));
  }
  scf::YieldOp::create(b, loc, branch.getResult(0));
  return loop.getResult(0);
}

/// Writes the case of lines. The first item of a position in a line makes its
/// updates. If updates replace each other, the last item alone does.
void ScatterEmitter::emitLine() {
  Number sizes[] = {code.sizeOf(items, 0), code.sizeOf(items, 1),
                    code.sizeOf(items, 2)};
  place = code.delinearize(number, sizes);
  Value own = code.loadAt(items, place);
  position = positionOf(own);
  Value isFree = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  Value from = op.isReplacing() ? code.add(place[1], 1) : code.number(0);
  Value to = op.isReplacing() ? code.valueOf(sizes[1]) : place[1];
  auto loop =
      scf::ForOp::create(b, loc, from, to, code.number(1), ValueRange{isFree});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value other =
        code.loadAt(items, {place[0], loop.getInductionVar(), place[2]});
    Value differs =
        compare(arith::CmpIPredicate::ne, positionOf(other), position);
    scf::YieldOp::create(b, loc, code.both(loop.getRegionIterArg(0), differs));
  }
  isFree = code.both(loop.getResult(0),
                     code.isWithin(position, code.sizeOf(dst, 0)));
  code.when(isFree, [&] {
    Value value = op.isReplacing()
                      ? code.loadAt(updates, {toNumber(own), element})
                      : foldLine(code.loadAt(dst, {position, element}));
    code.storeAt(value, dst, {position, element});
  });
}

void ScatterEmitter::emit(ValueRange memrefs) {
  items = memrefs[0];
  updates = memrefs[1];
  dst = memrefs[2];
  Number slice = code.sizeOf(updates, 1),
         all = code.product({code.sizeOf(updates, 0), slice});
  Value thread =
      code.add(code.multiply(code.block(), kGridThreads), code.thread());
  code.when(code.isWithin(thread, all), [&] {
    number = code.divide(thread, slice);
    element = code.remainder(thread, slice);
    isSorted ? emitSorted() : emitLine();
  });
}

static void outline(ScatterOp op, loops::KernelTable &table) {
  Location loc = op.getLoc();
  support::sinkConstants(op.getCombiner());
  OpBuilder b(op->getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(b, loc, op->getOperands(), {});
  setBlock(kernel, kGridThreads, /*sharedBytes=*/0);
  ScatterEmitter(b, op).emit(kernel.getArguments());
  kernel = table.insert(kernel, "scatter_");
  b.setInsertionPoint(op);
  requireCounted(b, loc, op->getOperands());
  OpFoldResult threads = support::productOf(
      b, loc, memref::getMixedSizes(b, loc, op.getUpdates()));
  launch(b, loc, kernel, op->getOperands(),
         countBlocks(b, loc, threads, kGridThreads), /*writes=*/1);
  op->erase();
}

void OutlineScatterPass::runOnOperation() {
  shared += outlineOps(getOperation(), llvm::IsaPred<ScatterOp>,
                       [&](Operation *op, loops::KernelTable &table) {
                         outline(cast<ScatterOp>(op), table);
                         ++launched;
                       });
}
