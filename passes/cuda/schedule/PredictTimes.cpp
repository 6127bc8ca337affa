//===- PredictTimes.cpp - cuda-predict-times ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/attention/Attention.h"
#include "passes/cuda/schedule/ChooseSchedule.h"
#include "passes/cuda/schedule/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// Returns the bytes of a kernel's operands.
static int64_t bytesOf(func::FuncOp kernel) {
  int64_t bytes = 0;
  for (Type type : kernel.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type);
        memref && memref.hasStaticShape() &&
        memref.getElementType().isIntOrFloat())
      bytes += memref.getNumElements() *
               int64_t(llvm::divideCeil(memref.getElementTypeBitWidth(), 8));
  return bytes;
}

/// Returns the cycles of an attention: those of its products.
static int64_t cyclesOf(const Attention &attention) {
  const int64_t heads =
      attention.batches().knownOr(kUsual.batch) * attention.heads();
  const int64_t queries = attention.queries().knownOr(kUsual.size);
  const int64_t products = heads * queries *
                           attention.numKeys().knownOr(kUsual.size) *
                           (attention.depth() + attention.width());
  const int64_t blocks =
      heads *
      int64_t(llvm::divideCeil(queries, attention.schedule().getRows()));
  const int64_t rate = attention.element().isF32() ? kFloatRate : kHalfRate;
  const int64_t processors = std::min(blocks, kProcessors);
  return int64_t(llvm::divideCeil(products, rate * processors)) + kLatency;
}

/// Returns the cycles of a kernel.
static int64_t cyclesOf(func::FuncOp kernel) {
  int64_t cycles =
      int64_t(llvm::divideCeil(bytesOf(kernel), kMemoryBytes)) + kLatency;
  kernel.walk([&](kernel::EpilogueOpInterface op) {
    if (auto attention = dyn_cast<AttentionOp>(*op)) {
      cycles = std::max(cycles, cyclesOf(Attention(attention)));
    } else if (isa<ConvOp, MatMulOp>(*op)) {
      Product product(op);
      cycles = std::max(cycles, estimateCycles(product, product.schedule()));
    }
  });
  return cycles;
}

void PredictTimesPass::runOnOperation() {
  DenseMap<StringAttr, int64_t> launches;
  getOperation()->walk([&](cuda::LaunchOp launch) {
    ++launches[launch.getKernel().getLeafReference()];
  });
  auto kernels = getOperation().lookupSymbol<ModuleOp>(kKernels);
  if (!kernels)
    return;
  CudaDialect::PredictionAttrHelper helper(&getContext());
  for (auto kernel : kernels.getOps<func::FuncOp>())
    if (int64_t count = launches.lookup(kernel.getSymNameAttr()))
      helper.setAttr(kernel, PredictionAttr::get(
                                 &getContext(),
                                 cyclesOf(kernel) * 1000 / kMegahertz, count));
}
