//===- OutlineGrids.cpp - cuda-outline-grids ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/kernels/LoopKernels.h"
#include "passes/cuda/schedule/ChooseTile.h"
#include "passes/cuda/schedule/Grids.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEGRIDS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct OutlineGridsPass : ingot::impl::OutlineGridsBase<OutlineGridsPass> {
  void runOnOperation() override;
  void outline(linalg::LinalgOp op, loops::KernelTable &table);
};

} // namespace

void OutlineGridsPass::outline(linalg::LinalgOp op, loops::KernelTable &table) {
  loops::Captures captures(op);
  if (Reason reason = whyNoKernel(op, captures)) {
    CudaDialect::ReasonAttrHelper(&getContext())
        .setAttr(op, StringAttr::get(&getContext(), *reason));
    return;
  }
  SmallVector<unsigned> parallel = ElementEmitter::parallelLoops(op);
  std::optional<int64_t> elements = staticSteps(op, parallel);
  if (elements == 0)
    return op->erase();
  const int64_t count =
      parallel.empty() ? 1 : chooseThreadElements(op, parallel.back());
  OpBuilder b(&getContext());
  Location loc = op.getLoc();
  LoopKernel kernel(b, op, captures, kGridThreads, /*sharedBytes=*/0, count);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value threads = arith::ConstantIndexOp::create(b, loc, kGridThreads);
  Value number = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, block, threads), thread);
  Value numThreads;
  if (elements) {
    numThreads = arith::ConstantIndexOp::create(b, loc, *elements / count);
  } else {
    numThreads = countSteps(b, op, parallel, kernel.outside);
    if (count > 1)
      numThreads = arith::DivUIOp::create(
          b, loc, numThreads, arith::ConstantIndexOp::create(b, loc, count));
  }
  Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         number, numThreads);
  auto branch = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  ElementEmitter(b, op, kernel.outside).emit(number, count);
  if (std::optional<Transpose> transpose = Transpose::of(op))
    setCycles(kernel.kernel, estimateGrid(*transpose));
  kernel.launch(table, "grid_", parallel, kGridThreads * count);
  ++launched;
}

static bool isDense(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  int64_t offset;
  SmallVector<int64_t> strides;
  return type.hasStaticShape() &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides == mlir::computeStrides(type.getShape());
}

/// Turns copies of memrefs with gaps into linalg ops.
static void expandCopies(func::FuncOp function) {
  function.walk([](memref::CopyOp copy) {
    auto from = cast<MemRefType>(copy.getSource().getType());
    auto to = cast<MemRefType>(copy.getTarget().getType());
    if (isDense(from) && isDense(to))
      return;
    OpBuilder b(copy);
    linalg::makeMemRefCopyOp(b, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    copy.erase();
  });
}

void OutlineGridsPass::runOnOperation() {
  ModuleOp module = getOperation();
  loops::KernelTable table(kernelsOf(module));
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!findRunOperand(function, RunOperand::call))
      continue;
    expandCopies(function);
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops)
      outline(op, table);
  }
  shared += table.numShared;
}
