//===- PredictTimes.cpp - cuda-predict-times ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseAttention.h"
#include "passes/cuda/schedule/ChooseResample.h"
#include "passes/cuda/schedule/ChooseRows.h"
#include "passes/cuda/schedule/ChooseSchedule.h"
#include "passes/cuda/schedule/Machine.h"
#include "passes/cuda/schedule/ThreadWork.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_PREDICTTIMES
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct PredictTimesPass : ingot::impl::PredictTimesBase<PredictTimesPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns the bytes of a memref of known size, or 0.
static int64_t bytesOf(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.hasStaticShape() ||
      !memref.getElementType().isIntOrFloat())
    return 0;
  return memref.getNumElements() *
         int64_t(llvm::divideCeil(memref.getElementTypeBitWidth(), 8));
}

/// Returns the cycles of an op by the model that its schedule is chosen with,
/// or by its instructions if all sizes are known.
static std::optional<int64_t> estimateOf(kernel::EpilogueOpInterface op) {
  if (auto conv = dyn_cast<DepthwiseConvOp>(*op)) {
    Depthwise facts(conv);
    if (facts.isOpen())
      return std::nullopt;
    return estimateCycles(countWork(facts), kGridThreads, facts.blocks());
  }
  if (!op->hasAttr("schedule"))
    return std::nullopt;
  if (auto attention = dyn_cast<AttentionOp>(*op))
    return estimateCycles(Attention(attention), *attention.getSchedule());
  if (isa<ConvOp, MatMulOp>(*op)) {
    Product product(op);
    return estimateCycles(product, product.schedule());
  }
  if (auto resample = dyn_cast<ResampleOp>(*op))
    return estimateCycles(Resample(resample), *resample.getSchedule());
  if (isRowKernel(op)) {
    Rows rows(op);
    return estimateCycles(rows, rows.schedule());
  }
  return std::nullopt;
}

/// Returns the cycles of a kernel that is launched with at most `blocks` blocks
/// if a launch knows their number, else with 0.
static int64_t cyclesOf(func::FuncOp kernel, int64_t blocks) {
  CudaDialect::CyclesAttrHelper helper(kernel.getContext());
  if (CyclesAttr cycles = helper.getAttr(kernel)) {
    helper.removeAttr(kernel);
    return cycles.getCount();
  }
  int64_t bytes = 0;
  for (Type type : kernel.getArgumentTypes())
    bytes += bytesOf(type);
  int64_t cycles = int64_t(llvm::divideCeil(bytes, kMemoryBytes)) + kLatency;
  bool isWritten = true;
  kernel.walk([&](kernel::EpilogueOpInterface op) {
    isWritten = false;
    // The product has just written the parts, so they are not in memory.
    if (auto sum = dyn_cast<SumPartsOp>(*op))
      cycles = estimateSumOfParts(bytesOf(sum.getSrc().getType()));
    else if (std::optional<int64_t> estimate = estimateOf(op))
      cycles = std::max(cycles, *estimate);
  });
  CudaDialect::BlockAttrHelper block(kernel.getContext());
  if (isWritten && blocks > 0)
    cycles = std::max(cycles, estimateCycles(countWork(kernel),
                                             block.getAttr(kernel).getThreads(),
                                             blocks));
  return cycles;
}

/// The most launches of a kernel in a run that are counted. Times of so many
/// fit into 64 bits.
constexpr uint64_t kMaxLaunches = uint64_t(1) << 31;

/// Returns how often a run does `launch`. A loop whose steps only the run knows
/// counts once.
static int64_t countRuns(cuda::LaunchOp launch) {
  uint64_t count = 1;
  for (auto loop = launch->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (std::optional<APInt> steps = loop.getStaticTripCount())
      count = std::min(kMaxLaunches,
                       count * steps->getLimitedValue(kMaxLaunches));
  return int64_t(count);
}

void PredictTimesPass::runOnOperation() {
  DenseMap<StringAttr, int64_t> launches, blocks;
  getOperation()->walk([&](cuda::LaunchOp launch) {
    StringAttr name = launch.getKernel().getLeafReference();
    launches[name] += countRuns(launch);
    int64_t &most = blocks[name];
    most = std::max(most, getConstantIntValue(launch.getBlocks()).value_or(0));
  });
  auto kernels = getOperation().lookupSymbol<ModuleOp>(kKernels);
  if (!kernels)
    return;
  CudaDialect::PredictionAttrHelper helper(&getContext());
  for (auto kernel : kernels.getOps<func::FuncOp>()) {
    StringAttr name = kernel.getSymNameAttr();
    if (int64_t count = launches.lookup(name))
      helper.setAttr(kernel,
                     PredictionAttr::get(&getContext(),
                                         cyclesOf(kernel, blocks.lookup(name)) *
                                             1000 / kMegahertz,
                                         count));
  }
}
