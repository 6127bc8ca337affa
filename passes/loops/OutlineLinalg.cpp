//===- OutlineLinalg.cpp - outline-linalg ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"
#include "passes/loops/Captures.h"
#include "passes/loops/KernelTable.h"
#include "passes/loops/OpenTasks.h"
#include "passes/loops/Passes.h"
#include "passes/support/ByteTables.h"
#include "passes/support/Contains.h"
#include "passes/support/Contractions.h"
#include "passes/support/Shapes.h"
#include "passes/support/SkippedBuffers.h"
#include "passes/support/Thresholds.h"
#include "passes/support/TransposedOperand.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINELINALG
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The division of an op into tasks. Each task has `chunk` iterations of loop
/// `loop`, and the last task has the rest. A rest of fewer than `least`
/// iterations is added to the previous task. If ranges are dynamic, up to three
/// loops are split at run time, because the first loop may have one iteration.
struct Split {
  int64_t loop = -1;
  int64_t chunk = 0, least = 1;
  int64_t tasks = 1;
  SmallVector<int64_t> openLoops;
};

struct OutlineLinalgPass : ingot::impl::OutlineLinalgBase<OutlineLinalgPass> {
  void runOnOperation() override;
  void outline(linalg::LinalgOp op, loops::KernelTable &table,
               loops::OpenTasks &open, bool isParallel);
};

} // namespace

/// Returns true if an op is vectorized with register tiles. A product with a
/// single row is not.
static bool isTiled(linalg::LinalgOp op) {
  return support::isTiledProduct(op) &&
         op.getStaticLoopRanges()[op.getNumLoops() - 3] != 1;
}

/// Returns the cost of one iteration, measured in vectors of a product. A loop
/// in the body counts once if its number of steps is not known.
static int64_t costOf(linalg::LinalgOp op) {
  if (isTiled(op))
    return threshold::loopTiledCost;
  if (support::getByteTable(op))
    return threshold::loopLookupCost;
  constexpr int64_t kMaxSteps = 1 << 16; // Keeps the cost far from overflow.
  int64_t ops = 0;
  op->getRegion(0).walk([&](Operation *inner) {
    int64_t times = 1;
    for (auto loop = inner->getParentOfType<scf::ForOp>();
         loop && op->isAncestor(loop);
         loop = loop->getParentOfType<scf::ForOp>())
      if (std::optional<APInt> count = loop.getStaticTripCount())
        times = std::min(times * int64_t(count->getLimitedValue(kMaxSteps)),
                         kMaxSteps);
    ops += times;
  });
  return ops * threshold::loopOpCost;
}

/// Returns the side of the square blocks by which an op transposes its input.
/// Returns 0 if `loop` is neither the loop over rows nor the loop over columns.
static int64_t squareOf(linalg::LinalgOp op, int64_t loop) {
  constexpr int64_t kSquare = 8, kByteSquare = 16;
  OpOperand *src = support::getTransposedOperand(op);
  if (!src)
    return 0;
  OpOperand &dst = *op.getDpsInitOperand(0);
  if (loop != support::lastLoopOf(op, *src) &&
      loop != support::lastLoopOf(op, dst))
    return 0;
  return llvm::any_of(ArrayRef{src, &dst},
                      [](OpOperand *operand) {
                        return getElementTypeOrSelf(operand->get())
                            .isInteger(8);
                      })
             ? kByteSquare
             : kSquare;
}

/// Returns the number of iterations that stay in one task. Each task of a tiled
/// product packs its columns of the right operand. Packing is only worth its
/// time if the task has enough rows.
static int64_t grainOf(linalg::LinalgOp op, int64_t loop) {
  if (int64_t side = squareOf(op, loop))
    return side;
  int64_t row = op.getNumLoops() - 3, column = row + 2;
  if ((loop != row && loop != column) || !isTiled(op))
    return 1;
  return loop == row ? threshold::loopTaskRows : threshold::loopTaskColumns;
}

/// Returns the loops that are split at run time. They are the outermost
/// parallel loops that have, or may have, more than one iteration. In a tiled
/// product, the loop over columns is one of them. A loop whose iterations are
/// known to fit into one task stays whole.
static SmallVector<int64_t> openLoopsOf(linalg::LinalgOp op) {
  bool inTiles = isTiled(op);
  const size_t mostLoops = inTiles ? 3 : 2;
  SmallVector<int64_t> loops, ranges = op.getStaticLoopRanges();
  int64_t task = TargetInfo::of(op).task_flops / costOf(op);
  for (auto [i, range, iterator] :
       llvm::enumerate(ranges, op.getIteratorTypesArray())) {
    bool isParallel = iterator == utils::IteratorType::parallel;
    if (range == 1 || (inTiles && !isParallel))
      continue;
    int64_t rest = support::productOf(ArrayRef(ranges).drop_front(i));
    bool isSmall = !ShapedType::isDynamic(rest) && rest <= task;
    if (!isParallel || isSmall || loops.size() == mostLoops)
      break;
    loops.push_back(int64_t(i));
  }
  return loops;
}

static Split splitOf(linalg::LinalgOp op) {
  Split split;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (llvm::is_contained(ranges, 0))
    return split;
  if (ShapedType::isDynamicShape(ranges)) {
    split.openLoops = openLoopsOf(op);
    return split;
  }
  int64_t iterations = support::productOf(ranges);
  // Halves the number of tasks, because loops wait for memory more than kernels
  // do.
  TargetInfo target = TargetInfo::of(op);
  int64_t tasks = std::min(iterations * costOf(op) / target.task_flops,
                           target.most_tasks / 2);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool inTiles = isTiled(op);
  for (auto [i, range] : llvm::enumerate(ranges)) {
    bool isParallel = iterators[i] == utils::IteratorType::parallel;
    int64_t grain = grainOf(op, i);
    if (range <= grain || (inTiles && !isParallel))
      continue;
    if (!isParallel || tasks <= 1)
      return split;
    split.loop = i;
    int64_t grains = llvm::divideCeil(range, grain);
    split.chunk = llvm::divideCeil(grains, std::min(tasks, grains)) * grain;
    split.least = std::max<int64_t>(squareOf(op, i), 1);
    split.tasks = std::max<int64_t>(
        llvm::divideCeil(range - split.least + 1, split.chunk), 1);
    return split;
  }
  return split;
}

/// Returns the buffer that a view refers to: an allocation in the arena,
/// weights, an argument, or host memory.
static Value bufferOf(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
             memref::ReinterpretCastOp, memref::SubViewOp>(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// Returns true if views of the memrefs cannot alias, because they refer to
/// different buffers. Buffers that are live at the same time do not overlap.
static bool areDistinct(ArrayRef<Value> memrefs) {
  llvm::SmallDenseSet<Value> buffers;
  return llvm::all_of(memrefs, [&](Value memref) {
    return buffers.insert(bufferOf(memref)).second;
  });
}

/// Returns the constant `n`.
static Value constantOf(OpBuilder &b, Location loc, int64_t n) {
  return arith::ConstantIndexOp::create(b, loc, n);
}

/// Returns the loops that a run splits, and the cost of all iterations.
static loops::OpenWork workOf(OpBuilder &b, linalg::LinalgOp op,
                              const Split &split) {
  Location loc = op.getLoc();
  loops::OpenWork work;
  work.cost = constantOf(b, loc, costOf(op));
  SmallVector<Value> ranges;
  for (const Range &range : op.createLoopRanges(b, loc)) {
    ranges.push_back(getValueOrCreateConstantIndexOp(b, loc, range.size));
    work.cost = arith::MulIOp::create(b, loc, work.cost, ranges.back());
  }
  for (int64_t loop : split.openLoops)
    work.loops.push_back({ranges[loop], grainOf(op, loop),
                          std::max<int64_t>(squareOf(op, loop), 1)});
  return work;
}

/// Restricts `copy` to the iterations of task `number`. The ranges of `copy`
/// are dynamic.
static LogicalResult buildOpenTask(OpBuilder &b, linalg::LinalgOp copy,
                                   const Split &split, loops::OpenTasks &open,
                                   Value number) {
  Location loc = copy.getLoc();
  SmallVector<Value> parts =
      open.partsOf(b, loc, workOf(b, copy, split), number);
  SmallVector<OpFoldResult> offsets, sizes;
  for (const Range &range : copy.createLoopRanges(b, loc)) {
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(range.size);
  }
  for (auto [i, loop] : llvm::enumerate(split.openLoops)) {
    offsets[loop] = parts[i];
    sizes[loop] = parts[split.openLoops.size() + i];
  }
  auto tiling = cast<TilingInterface>(*copy);
  if (failed(tiling.getTiledImplementation(b, offsets, sizes)))
    return failure();
  copy->erase();
  return success();
}

/// Returns true if a run may skip a buffer that `op` reads or writes.
static bool mayBeSkipped(linalg::LinalgOp op) {
  return llvm::any_of(op->getOperands(), skippedWhen);
}

/// Runs `op` only if its results are needed.
static void skipInPlace(linalg::LinalgOp op) {
  if (!mayBeSkipped(op))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value runs = loops::skipEmpty(b, cast<DestinationStyleOpInterface>(*op),
                                constantOf(b, loc, 1));
  auto branch = scf::IfOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, runs,
                            constantOf(b, loc, 0)),
      /*withElseRegion=*/false);
  op->moveBefore(branch.thenYield());
}

/// Returns the number of tasks that `op` is split into.
static Value countTasks(OpBuilder &b, linalg::LinalgOp op, const Split &split,
                        loops::OpenTasks &open) {
  Value tasks = split.openLoops.empty()
                    ? constantOf(b, op.getLoc(), split.tasks)
                    : open.count(b, op.getLoc(), workOf(b, op, split));
  // Check for empty loops, because a reduction loop may enclose loops without
  // iterations.
  bool hasOuter = split.openLoops.empty() && op.getNumReductionLoops() != 0;
  return hasOuter || mayBeSkipped(op)
             ? loops::skipEmpty(b, cast<DestinationStyleOpInterface>(*op),
                                tasks)
             : tasks;
}

/// Restricts `copy` to the iterations of task `number`.
static LogicalResult buildTask(OpBuilder &builder, linalg::LinalgOp copy,
                               const Split &split, loops::OpenTasks &open,
                               Value number) {
  if (!split.openLoops.empty())
    return buildOpenTask(builder, copy, split, open, number);
  if (split.loop < 0)
    return success();
  Location loc = copy.getLoc();
  SmallVector<int64_t> ranges = copy.getStaticLoopRanges();
  SmallVector<OpFoldResult> offsets, sizes;
  for (int64_t range : ranges) {
    offsets.push_back(builder.getIndexAttr(0));
    sizes.push_back(builder.getIndexAttr(range));
  }
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  int64_t range = ranges[split.loop];
  Value offset =
      arith::MulIOp::create(builder, loc, number, constant(split.chunk));
  offsets[split.loop] = offset;
  if (range % split.chunk == 0) {
    sizes[split.loop] = builder.getIndexAttr(split.chunk);
  } else {
    Value rest =
        arith::SubIOp::create(builder, loc, constant(range), offset);
    sizes[split.loop] = loops::sizeOfTask(builder, loc, rest,
                                          constant(split.chunk), split.least);
  }
  auto tiling = cast<TilingInterface>(*copy);
  if (failed(tiling.getTiledImplementation(builder, offsets, sizes)))
    return failure();
  copy->erase();
  return success();
}

void OutlineLinalgPass::outline(linalg::LinalgOp op, loops::KernelTable &table,
                                loops::OpenTasks &open, bool isParallel) {
  loops::Captures captures(op);
  if (!captures.areComplete())
    return skipInPlace(op);
  Split split = isParallel ? splitOf(op) : Split();
  ArrayRef<Value> memrefs = captures.memrefs.getArrayRef();
  OpBuilder builder(&getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(builder, op.getLoc(), memrefs,
                                 builder.getIndexType());
  Block &body = kernel.getBody().front();
  IRMapping values;
  values.map(memrefs, body.getArguments().drop_back());
  for (Operation *op : captures.repeated)
    builder.clone(*op, values);
  auto copy = cast<linalg::LinalgOp>(builder.clone(*op, values));
  // The types of views may differ in their offsets.
  builder.setInsertionPoint(copy);
  if (failed(buildTask(builder, copy, split, open,
                       body.getArguments().back()))) {
    kernel->erase();
    return skipInPlace(op);
  }
  // An attribute of a memref argument would be lost in lowering, so mark the
  // function.
  if (areDistinct(memrefs))
    kernel->setAttr("passthrough",
                    builder.getStrArrayAttr({"ingot-distinct-buffers"}));
  kernel = table.insert(kernel, "loops.");
  builder.setInsertionPoint(op);
  Value tasks = countTasks(builder, op, split, open);
  cpu::LaunchOp::create(builder, op.getLoc(),
                        FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                        memrefs, tasks,
                        builder.getI64IntegerAttr(memrefs.size()));
  op->erase();
}

/// Returns true if an op is in the function itself, or in a branch. Inside a
/// loop it may be too small to be split among threads.
static bool isDoneOnce(Operation *op) {
  do
    op = op->getParentOp();
  while (isa<scf::IfOp>(op));
  return isa<func::FuncOp>(op);
}

/// Returns true if the module calls a library that creates threads.
static bool hasOtherThreads(ModuleOp module) {
  ArrayAttr libraries =
      IngotDialect::LibrariesAttrHelper(module.getContext()).getAttr(module);
  return libraries && llvm::any_of(libraries.getAsRange<LibraryAttr>(),
                                   [](LibraryAttr library) {
                                     return library.getOwnThreads();
                                   });
}

void OutlineLinalgPass::runOnOperation() {
  ModuleOp module = getOperation();
  // Threads of a library may spin after an op while they wait for work. Create
  // no tasks then, because a second thread pool would compete with these
  // threads for the cores.
  bool isParallel = !hasOtherThreads(module);
  loops::KernelTable table(module);
  loops::OpenTasks open(module);
  SmallVector<linalg::LinalgOp> ops, staying;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (findRunOperand(function, RunOperand::call))
      function.walk([&](linalg::LinalgOp op) {
        const bool stays = support::contains(op, loops::needsRun);
        if (op.hasPureBufferSemantics() && isDoneOnce(op))
          (stays ? staying : ops).push_back(op);
      });
  }
  for (linalg::LinalgOp op : ops)
    outline(op, table, open, isParallel);
  for (linalg::LinalgOp op : staying)
    skipInPlace(op);
  shared += table.numShared;
}
