//===- OutlineRecurrent.cpp - cuda-outline-recurrent ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/recurrent/StepEmitter.h"
#include "passes/cuda/schedule/ChooseRecurrent.h"
#include "passes/cuda/schedule/ThreadWork.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Regions.h"
#include "passes/support/ScalarBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINERECURRENT
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// Writes the host code of a recurrence.
class Outliner {
public:
  Outliner(RecurrentOp op, loops::KernelTable &table, ModuleOp kernels)
      : op(op), facts(op), table(table), kernels(kernels), b(op),
        loc(op.getLoc()) {}

  void outline();
  int64_t numLaunches = 0;

private:
  Value slice(Value memref, OpFoldResult at, int64_t columns);
  Value copyOf(int64_t d, OpFoldResult number) {
    return slice(op.room(d), number, facts.hidden);
  }
  Value countBlocks();
  int64_t estimate(bool isReset);
  SmallVector<StepBuffers> buffersOf(Value step);
  void launchStep(MutableArrayRef<StepBuffers> directions, bool isReset);

  RecurrentOp op;
  Recurrence facts;
  loops::KernelTable &table;
  ModuleOp kernels;
  OpBuilder b;
  Location loc;
  support::Scalars s{b, loc};
  /// The number of steps of a sequence, and of blocks of a launch.
  Value steps, blocks;
};

struct OutlineRecurrentPass
    : ingot::impl::OutlineRecurrentBase<OutlineRecurrentPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the part of a memref at index `at` of the first dimension. If the
/// memref has rank 3, the part has the first `columns` of the last dimension.
Value Outliner::slice(Value memref, OpFoldResult at, int64_t columns) {
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, memref),
                            offsets(sizes.size(), b.getIndexAttr(0)),
                            strides(sizes.size(), b.getIndexAttr(1));
  offsets.front() = at;
  sizes.front() = b.getIndexAttr(1);
  if (sizes.size() > 2)
    sizes.back() = b.getIndexAttr(columns);
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<int64_t> shape(type.getShape().drop_front());
  if (sizes.size() > 2)
    shape.back() = columns;
  MemRefType result = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, loc, result, memref, offsets, sizes,
                                   strides);
}

/// Returns the number of blocks of a launch.
Value Outliner::countBlocks() {
  RecurrentScheduleAttr schedule = *op.getSchedule();
  const int64_t others = facts.directions * facts.unitBlocks(schedule);
  if (!facts.batch.isOpen())
    return s.n(others *
               int64_t(llvm::divideCeil(uint64_t(facts.batch.known()),
                                        uint64_t(schedule.getBatch()))));
  Value batch = memref::DimOp::create(b, loc, op.state(0, 0), 0);
  Value parts = cuda::countBlocks(b, loc, batch, schedule.getBatch());
  return s.mul(parts, s.n(others));
}

/// Returns the memrefs of a step of each direction.
SmallVector<StepBuffers> Outliner::buffersOf(Value step) {
  Value two = s.n(2);
  Value before = arith::RemUIOp::create(b, loc, step, two);
  Value after = s.sub(s.n(1), before);
  SmallVector<StepBuffers> directions(size_t(facts.directions));
  for (auto [i, buffers] : llvm::enumerate(directions)) {
    const auto d = int64_t(i);
    Value at = step;
    if (op.getReverse()[i]) {
      Value last = s.sub(steps, s.n(1));
      at = s.sub(last, step);
    }
    buffers.src = slice(op.getSrcs()[i], at, op.numInputs() * facts.hidden);
    buffers.before = copyOf(d, before);
    buffers.after = copyOf(d, after);
    if (op.getMasks())
      buffers.mask = slice(op.getMasks(), at, /*columns=*/0);
    if (op.all(d))
      buffers.all = slice(op.all(d), at, facts.hidden);
    if (op.hasReset())
      buffers.late = copyOf(d, b.getIndexAttr(2));
    for (size_t j = 0; j < op.getGates().size(); ++j)
      buffers.weights.push_back(op.weightsOf(d, int64_t(j)));
    for (int64_t j = 0; j < op.numColumnOperands(); ++j)
      buffers.columns.push_back(op.columnOperand(d, j));
    for (int64_t j = 1; j < int64_t(op.getNumStates()); ++j)
      buffers.states.push_back(op.state(d, j));
  }
  return directions;
}

/// Returns the cycles of a launch, which computes the products that its region
/// uses.
int64_t Outliner::estimate(bool isReset) {
  RecurrentSizes sizes = facts;
  if (isReset)
    sizes.products -= op.getGates().back();
  Block &body = (isReset ? op.getReset() : op.getCell()).front();
  sizes.products = llvm::count_if(
      body.getArguments().take_front(size_t(sizes.products)),
      [](BlockArgument argument) { return !argument.use_empty(); });
  return estimateCycles(sizes, *op.getSchedule());
}

/// Makes the kernel of a step and launches it.
void Outliner::launchStep(MutableArrayRef<StepBuffers> directions,
                          bool isReset) {
  SmallVector<Value *> reads, writes;
  for (StepBuffers &buffers : directions)
    buffers.collect(isReset, reads, writes);
  SmallVector<Value *> places(reads);
  llvm::append_range(places, writes);
  SmallVector<Value> arguments;
  for (Value *place : places)
    arguments.push_back(*place);
  OpBuilder inside(op->getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(inside, loc, arguments, TypeRange());
  setBlock(kernel, op.getSchedule()->getBlockThreads(), /*sharedBytes=*/0);
  for (auto [place, parameter] : llvm::zip_equal(places, kernel.getArguments()))
    *place = parameter;
  StepEmitter(inside, facts, isReset).emit(kernels, directions);
  kernel = table.insert(kernel, isReset ? "recurrent_reset_" : "recurrent_");
  setCycles(kernel, estimate(isReset));
  launch(b, loc, kernel, arguments, blocks, int64_t(writes.size()));
  ++numLaunches;
}

void Outliner::outline() {
  for (Region *region : {&op.getCell(), &op.getReset()})
    support::sinkConstants(*region);
  requireCounted(b, loc, op->getOperands());
  steps = b.createOrFold<memref::DimOp>(loc, op.getSrcs()[0], 0);
  blocks = countBlocks();
  for (int64_t d = 0; d < facts.directions; ++d)
    memref::CopyOp::create(b, loc, op.state(d, 0),
                           copyOf(d, b.getIndexAttr(0)));
  auto loop = scf::ForOp::create(b, loc, s.n(0), steps, s.n(1));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<StepBuffers> directions = buffersOf(loop.getInductionVar());
    if (op.hasReset()) {
      SmallVector<StepBuffers> ofReset = directions;
      for (StepBuffers &buffers : ofReset) {
        buffers.after = buffers.late;
        buffers.late = buffers.all = Value();
        buffers.weights.pop_back();
      }
      launchStep(ofReset, /*isReset=*/true);
    }
    launchStep(directions, /*isReset=*/false);
  }
  Value last = arith::RemUIOp::create(b, loc, steps, s.n(2));
  for (int64_t d = 0; d < facts.directions; ++d)
    memref::CopyOp::create(b, loc, copyOf(d, last), op.state(d, 0));
  op->erase();
}

void OutlineRecurrentPass::runOnOperation() {
  shared +=
      outlineOps(getOperation(), llvm::IsaPred<RecurrentOp>,
                 [&](Operation *op, loops::KernelTable &table) {
                   ModuleOp kernels = kernelsOf(getOperation());
                   Outliner outliner(cast<RecurrentOp>(op), table, kernels);
                   outliner.outline();
                   launched += outliner.numLaunches;
                 });
}
