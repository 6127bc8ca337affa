//===- ProductsToNVVM.cpp - cuda-products-to-nvvm -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/products/Multiplier.h"
#include "passes/cuda/products/StoreRows.h"
#include "passes/cuda/products/TileLoader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_PRODUCTSTONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// Writes the kernel of one product. The steps along the depth are a pipeline:
/// while the tiles of a step are multiplied, those of later steps are copied.
class ProductEmitter {
public:
  ProductEmitter(OpBuilder &b, const Product &product)
      : code(b, product.op->getLoc()), product(product),
        schedule(product.schedule()) {}

  void emit();

private:
  Value tileAt(Value base, Value stage, const TileLoader &loader);
  SmallVector<Value> multiplyAll(Multiplier &multiplier);
  void loadStep(Value step, Value stage);
  void loadStepIf(Value condition, Value step, Value stage);
  Value countSteps(Value first);

  Code code;
  const Product &product;
  ScheduleAttr schedule;
  Value shared, weightsShared;
  /// The part of the depth; null if there is one part.
  Value part;
  std::optional<TileLoader> src, weights;
};

struct ProductsToNVVMPass
    : ingot::impl::ProductsToNVVMBase<ProductsToNVVMPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the tile of a factor in a stage. `base` is that in the first stage.
Value ProductEmitter::tileAt(Value base, Value stage,
                             const TileLoader &loader) {
  return code.shift(base, code.b.getI8Type(),
                    code.multiply(stage, loader.tileBytes()));
}

void ProductEmitter::loadStep(Value step, Value stage) {
  src->load(step, tileAt(shared, stage, *src));
  weights->load(step, tileAt(weightsShared, stage, *weights));
}

void ProductEmitter::loadStepIf(Value condition, Value step, Value stage) {
  auto branch = scf::IfOp::create(code.b, code.loc, condition,
                                  /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPoint(branch.thenYield());
  loadStep(step, stage);
}

/// Returns the steps of the part that begins at step `first`. The last parts
/// may have fewer steps than others, or none.
Value ProductEmitter::countSteps(Value first) {
  const int64_t steps = product.steps(schedule);
  Value most = code.number(product.stepsOfPart(schedule));
  if (steps % product.parts == 0)
    return most;
  auto left = code.b.createOrFold<arith::MaxSIOp>(
      code.loc, code.subtract(code.number(steps), first), code.number(0));
  return code.b.createOrFold<arith::MinSIOp>(code.loc, left, most);
}

/// Returns the thread's sums of all steps of its part.
SmallVector<Value> ProductEmitter::multiplyAll(Multiplier &multiplier) {
  OpBuilder &b = code.b;
  Location loc = code.loc;
  const int64_t stages = schedule.getStages();
  // Parts imply that all sizes are known.
  const Number steps =
      part ? Number(product.stepsOfPart(schedule))
           : code.parts(product.depth(), product.stepElements(schedule));
  Value first;
  if (part)
    first = code.multiply(part, steps);
  Value end = first ? countSteps(first) : code.valueOf(steps);
  auto stepAt = [&](Value number) {
    return first ? code.add(first, number) : number;
  };
  auto isStep = [&](Value number) -> Value {
    return b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, number,
                                         end);
  };
  // A step has a group of copies, also if it is behind the last one.
  for (int64_t i = 0; i + 1 < stages; ++i) {
    const bool mayBeStep = steps.isOpen() || i < steps.known();
    if (mayBeStep && (first || steps.isOpen()))
      loadStepIf(isStep(code.number(i)), stepAt(code.number(i)),
                 code.number(i));
    else if (mayBeStep)
      loadStep(code.number(i), code.number(i));
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  }
  SmallVector<Value> carried = multiplier.start();
  const size_t numSums = carried.size();
  carried.push_back(code.number(0));
  carried.push_back(code.number(stages - 1));
  auto loop =
      scf::ForOp::create(b, loc, code.number(0), end, code.number(1), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar();
  ValueRange arguments = loop.getRegionIterArgs();
  Value stage = arguments[numSums], lastStage = arguments[numSums + 1];
  NVVM::CpAsyncWaitGroupOp::create(b, loc, uint32_t(stages - 2));
  // All threads see the tiles, and none reads the stage that is filled next.
  NVVM::BarrierOp::create(b, loc);
  Value ahead = code.add(step, stages - 1);
  loadStepIf(isStep(ahead), stepAt(ahead), lastStage);
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
  SmallVector<Value> next = multiplier.multiply(
      tileAt(shared, stage, *src), tileAt(weightsShared, stage, *weights),
      arguments.take_front(numSums));
  auto advance = [&](Value stage) {
    Value isLast = code.equals(stage, stages - 1);
    return code.select(isLast, code.number(0), code.add(stage, 1));
  };
  next.push_back(advance(stage));
  next.push_back(advance(lastStage));
  scf::YieldOp::create(b, loc, next);
  return llvm::to_vector_of<Value>(loop.getResults().take_front(numSums));
}

void ProductEmitter::emit() {
  OpBuilder &b = code.b;
  Location loc = code.loc;
  shared = code.sharedMemory(product.op->getParentOfType<ModuleOp>());
  Value thread = code.thread(), block = code.block();
  // Neighboring blocks have the same rows, which they then find in the cache.
  const Number across = code.parts(product.columns(), schedule.getColumns());
  const Number down =
      code.parts(code.product(product.rowSizes()), schedule.getRows());
  const SmallVector<Number> batches = product.batchSizes();
  const bool isOne =
      product.parts == 1 &&
      llvm::all_of(batches, [](Number size) { return size.is(1); });
  Value rest = code.divide(block, across);
  Value firstColumn =
      code.multiply(code.remainder(block, across), schedule.getColumns());
  Value firstRow =
      code.multiply(isOne && down.isOpen() ? rest : code.remainder(rest, down),
                    schedule.getRows());
  Value batch = isOne ? code.number(0) : code.divide(rest, down);
  // Parts imply that all sizes are known.
  if (product.parts > 1) {
    part = code.divide(batch, product.usualBatches());
    batch = code.remainder(batch, product.usualBatches());
  }
  src = TileLoader::ofSrc(code, product, thread, firstRow, batch);
  weights = TileLoader::ofWeights(code, product, thread, firstColumn, batch);
  weightsShared =
      code.shift(shared, b.getI8Type(),
                 code.number(schedule.getStages() * src->tileBytes()));
  std::unique_ptr<Multiplier> multiplier =
      Multiplier::create(code, product, thread);
  SmallVector<Value> sums = multiplyAll(*multiplier);
  // The sums replace the tiles, which other warps may still read.
  NVVM::BarrierOp::create(b, loc);
  multiplier->store(sums, shared);
  NVVM::BarrierOp::create(b, loc);
  RowStorer(code, product, thread, {firstRow, firstColumn, batch, part})
      .store(shared);
}

void ProductsToNVVMPass::runOnOperation() {
  emitKernels(getOperation(), llvm::IsaPred<ConvOp, MatMulOp>,
              [](OpBuilder &b, kernel::EpilogueOpInterface op) {
                Product facts(op);
                Code code(b, op.getLoc());
                facts.resolve(code);
                ProductEmitter(b, facts).emit();
              });
}
