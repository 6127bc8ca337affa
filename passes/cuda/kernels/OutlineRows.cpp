//===- OutlineRows.cpp - cuda-outline-rows --------------------------------===//
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
#include "passes/cuda/kernels/LoopKernels.h"
#include "passes/cuda/kernels/Team.h"
#include "passes/cuda/schedule/Grids.h"
#include "passes/support/ScalarBuilder.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEROWS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

static Team teamOf(RowTeam team) {
  return {team == RowTeam::block ? kGridThreads : kWarp, kGridThreads};
}

namespace {

/// Writes a kernel in which a team of threads reduces the elements of one
/// result. The team is a warp, or a block.
class RowEmitter {
public:
  RowEmitter(OpBuilder &b, linalg::LinalgOp op, ArrayRef<Operation *> combiners,
             RowTeam team, const IRMapping &outside)
      : b(b), op(op), loc(op.getLoc()), combiners(combiners), team(team),
        outside(outside) {}

  void emit(LoopKernel &kernel);

private:
  Value combine(size_t result, Value x, Value y);
  Values combineAll(Values sums);
  Values reducePart(ElementEmitter &element, Value first, int64_t step);
  void storeRow(ElementEmitter &element, ArrayRef<Value> sums, Value member);

  OpBuilder &b;
  linalg::LinalgOp op;
  Location loc;
  support::Scalars s{b, loc};
  ArrayRef<Operation *> combiners;
  RowTeam team;
  const IRMapping &outside;
};

struct OutlineRowsPass : ingot::impl::OutlineRowsBase<OutlineRowsPass> {
  void runOnOperation() override;
  void outline(linalg::LinalgOp op, loops::KernelTable &table);
};

} // namespace

/// Combines two partial results by a copy of the op that the body combines its
/// elements with.
Value RowEmitter::combine(size_t result, Value x, Value y) {
  Operation *combiner = combiners[result];
  Operation *copy = b.clone(*combiner);
  copy->setOperands({x, y});
  return copy->getResult(0);
}

/// Combines the partial results of the team. Each thread gets the results.
Values RowEmitter::combineAll(Values sums) {
  Code code(b, loc);
  return combineTeam(
      code, teamOf(team),
      {kernelsOf(op->getParentOfType<ModuleOp>()), code.thread()},
      std::move(sums),
      [&](size_t i, Value x, Value y) { return combine(i, x, y); });
}

/// Reduces every `step`-th element from number `first` on.
Values RowEmitter::reducePart(ElementEmitter &element, Value first,
                              int64_t step) {
  SmallVector<unsigned> loops = ElementEmitter::reductionLoops(op);
  Values start;
  for (Operation *combiner : combiners)
    start.push_back(
        arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner)));
  Value depth = countSteps(b, op, loops, outside);
  auto loop = scf::ForOp::create(b, loc, first, depth, s.n(step), start);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  element.delinearize(loop.getInductionVar(), loops, /*count=*/1);
  scf::YieldOp::create(
      b, loc,
      element.compute(llvm::to_vector_of<Value>(loop.getRegionIterArgs())));
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// Lets the first member of the team combine the sums with the results before
/// the op, and store them.
void RowEmitter::storeRow(ElementEmitter &element, ArrayRef<Value> sums,
                          Value member) {
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, member, s.n(0));
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  Values results;
  for (auto [i, init, sum] : llvm::enumerate(element.loadInits(), sums))
    results.push_back(combine(i, init, sum));
  element.store(results);
}

void RowEmitter::emit(LoopKernel &kernel) {
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  ElementEmitter element(b, op, kernel.outside);
  SmallVector<unsigned> rows = ElementEmitter::parallelLoops(op);
  if (team == RowTeam::block) {
    element.delinearize(block, rows, /*count=*/1);
    storeRow(element, combineAll(reducePart(element, thread, kGridThreads)),
             thread);
    return;
  }
  Value lane = arith::RemUIOp::create(b, loc, thread, s.n(kWarp));
  Value warp = arith::DivUIOp::create(b, loc, thread, s.n(kWarp));
  Value row = s.add(s.mul(block, s.n(kGridThreads / kWarp)), warp);
  Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, row,
                                         countSteps(b, op, rows, outside));
  auto branch = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  element.delinearize(row, rows, /*count=*/1);
  storeRow(element, combineAll(reducePart(element, lane, kWarp)), lane);
}

/// Finds the op that combines the elements of each result. Returns an empty
/// list if one of them is not a reduction of a type that lanes exchange.
static SmallVector<Operation *> findCombiners(linalg::LinalgOp op) {
  SmallVector<Operation *> found;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    SmallVector<Operation *> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), i, combiners) ||
        combiners.size() != 1 || combiners[0]->getNumOperands() != 2 ||
        !arith::getNeutralElement(combiners[0]))
      return {};
    Type type = combiners[0]->getResult(0).getType();
    if (!type.isF32() && !type.isInteger(32))
      return {};
    found.push_back(combiners[0]);
  }
  return found;
}

void OutlineRowsPass::outline(linalg::LinalgOp op, loops::KernelTable &table) {
  SmallVector<unsigned> parallel = ElementEmitter::parallelLoops(op);
  RowTeam team = chooseRowTeam(op, parallel);
  SmallVector<Operation *> combiners = findCombiners(op);
  loops::Captures captures(op);
  if (team == RowTeam::thread || combiners.empty() || whyNoKernel(op, captures))
    return;
  OpBuilder b(&getContext());
  const int64_t sharedBytes =
      teamOf(team).sharedBytes(int64_t(combiners.size()));
  LoopKernel kernel(b, op, captures, kGridThreads, sharedBytes, /*count=*/1);
  RowEmitter(b, op, combiners, team, kernel.outside).emit(kernel);
  const int64_t rowsOfBlock = team == RowTeam::block ? 1 : kGridThreads / kWarp;
  kernel.launch(table, "rows_", parallel, rowsOfBlock);
  ++launched;
}

void OutlineRowsPass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<linalg::LinalgOp> ops;
  for (auto function : module.getOps<func::FuncOp>())
    if (findRunOperand(function, RunOperand::call))
      function.walk([&](linalg::LinalgOp op) {
        if (op.hasPureBufferSemantics() && op.getNumReductionLoops() != 0)
          ops.push_back(op);
      });
  if (ops.empty())
    return;
  loops::KernelTable table(kernelsOf(module));
  for (linalg::LinalgOp op : ops)
    outline(op, table);
  shared += table.numShared;
}
