//===- OutlineSort.cpp - cuda-outline-sort --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/BlockSort.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/schedule/Machine.h"
#include "passes/loops/KernelTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINESORT
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// Writes the kernels of a `cuda.sort` and its launches.
class SortOutliner {
public:
  SortOutliner(SortOp op, ModuleOp kernels, loops::KernelTable &table)
      : op(op), kernels(kernels), table(table), loc(op.getLoc()),
        items(op.getItems()), spare(op.getSpare()),
        length(cast<MemRefType>(items.getType()).getDimSize(0)) {}

  void outline();

private:
  bool isOpen() const { return ShapedType::isDynamic(length); }
  void launchSort(int64_t block, Value from, Value to);
  void launchMerge(int64_t run, Value from, Value to, Value blocks);
  Value blocksOf(OpBuilder &b, int64_t perBlock);

  SortOp op;
  ModuleOp kernels;
  loops::KernelTable &table;
  Location loc;
  Value items, spare;
  int64_t length;
};

struct OutlineSortPass : ingot::impl::OutlineSortBase<OutlineSortPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns how many blocks have all items.
Value SortOutliner::blocksOf(OpBuilder &b, int64_t perBlock) {
  return countBlocks(b, loc, memref::getMixedSize(b, loc, items, 0), perBlock);
}

static Value isGreater(Code &code, Value x, Value y) {
  return arith::CmpIOp::create(code.b, code.loc, arith::CmpIPredicate::ugt, x,
                               y);
}

/// Launches a kernel whose blocks sort pieces of `block` items.
void SortOutliner::launchSort(int64_t block, Value from, Value to) {
  Value arguments[] = {from, to};
  OpBuilder b(op->getContext());
  func::FuncOp kernel = loops::KernelTable::create(b, loc, arguments, {});
  Code code(b, loc);
  BlockSort sort(code, block);
  setBlock(kernel, sort.numThreads(), sort.sharedBytes());
  sort.begin(kernels);
  Value source = kernel.getArgument(0), target = kernel.getArgument(1);
  Number count = code.sizeOf(source, 0);
  Value start = code.multiply(code.block(), block);
  sort.forEach(sort.thread(), block, sort.numThreads(), [&](Value slot) {
    Value at = code.add(start, slot);
    auto branch =
        scf::IfOp::create(b, loc, b.getI64Type(), code.isWithin(at, count),
                          /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc, code.loadAt(source, {at}));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, sort.last());
    }
    sort.store(branch.getResult(0), slot);
  });
  sort.sort([&](Value x, Value y) { return isGreater(code, x, y); });
  sort.forEach(sort.thread(), block, sort.numThreads(), [&](Value slot) {
    Value at = code.add(start, slot);
    code.when(code.isWithin(at, count),
              [&] { code.storeAt(sort.load(slot), target, {at}); });
  });
  kernel = table.insert(kernel, "sort_");
  b.setInsertionPoint(op);
  launch(b, loc, kernel, arguments, blocksOf(b, block), /*writes=*/1);
}

/// Launches a kernel that merges pairs of sorted runs of `run` items. A thread
/// finds the place of an item by a binary search in the other run.
void SortOutliner::launchMerge(int64_t run, Value from, Value to,
                               Value blocks) {
  Value arguments[] = {from, to};
  OpBuilder b(op->getContext());
  func::FuncOp kernel = loops::KernelTable::create(b, loc, arguments, {});
  Code code(b, loc);
  setBlock(kernel, kGridThreads, /*sharedBytes=*/0);
  Value source = kernel.getArgument(0), target = kernel.getArgument(1);
  Number count = code.sizeOf(source, 0);
  Value at = code.add(code.multiply(code.block(), kGridThreads), code.thread());
  code.when(code.isWithin(at, count), [&] {
    auto bits = [&](int64_t mask) -> Value {
      return arith::AndIOp::create(b, loc, at, code.number(mask));
    };
    Value own = bits(-run), pair = bits(-2 * run);
    // The start of the other run, which may lie behind the last item.
    Value other = code.exclusiveOr(own, code.number(run));
    Value left = code.subtract(code.valueOf(count), other);
    left = arith::MaxSIOp::create(b, loc, left, code.number(0));
    left = arith::MinSIOp::create(b, loc, left, code.number(run));
    Value last = code.add(code.valueOf(count), -1);
    Value item = code.loadAt(source, {at});
    Value before = code.number(0);
    for (int64_t step = run; step > 0; step /= 2) {
      Value probe = code.add(before, step);
      Value place = arith::MinUIOp::create(
          b, loc, code.add(code.add(other, probe), -1), last);
      Value isBefore = code.both(
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, probe, left),
          isGreater(code, item, code.loadAt(source, {place})));
      before = code.select(isBefore, probe, before);
    }
    Value place = code.add(code.add(pair, code.subtract(at, own)), before);
    code.storeAt(item, target, {place});
  });
  kernel = table.insert(kernel, "merge_");
  b.setInsertionPoint(op);
  launch(b, loc, kernel, arguments, blocks, /*writes=*/1);
}

void SortOutliner::outline() {
  OpBuilder b(op);
  const int64_t block =
      isOpen() ? kSortedItems
               : std::clamp(int64_t(llvm::PowerOf2Ceil(uint64_t(length))),
                            2 * kWarp, kSortedItems);
  if (!isOpen()) {
    // The last merge writes to `items`.
    const int64_t merges =
        llvm::Log2_64_Ceil(llvm::divideCeil(uint64_t(length), uint64_t(block)));
    Value from = items, to = merges % 2 ? spare : items;
    launchSort(block, from, to);
    from = to;
    for (int64_t i = 0; i < merges; ++i) {
      to = from == items ? spare : items;
      launchMerge(block << i, from, to, blocksOf(b, kGridThreads));
      from = to;
    }
    return op.erase();
  }
  requireCounted(b, loc, items);
  launchSort(block, items, items);
  // Two merges at a time, so that the items are in place behind them. Runs with
  // fewer items launch only the first merges.
  Value all = blocksOf(b, kGridThreads);
  Value none = arith::ConstantIndexOp::create(b, loc, 0);
  Value count = memref::DimOp::create(b, loc, items, 0);
  for (int64_t run = block; run < kMaxElements; run *= 4) {
    Value isMore =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, count,
                              arith::ConstantIndexOp::create(b, loc, run));
    Value blocks = arith::SelectOp::create(b, loc, isMore, all, none);
    launchMerge(run, items, spare, blocks);
    launchMerge(2 * run, spare, items, blocks);
  }
  op.erase();
}

void OutlineSortPass::runOnOperation() {
  shared +=
      outlineOps(getOperation(), llvm::IsaPred<SortOp>,
                 [&](Operation *op, loops::KernelTable &table) {
                   ModuleOp kernels = kernelsOf(getOperation());
                   SortOutliner(cast<SortOp>(op), kernels, table).outline();
                   ++launched;
                 });
}
