//===- KernelModule.cpp - the module of kernels ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/KernelModule.h"

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/RunChecks.h"
#include "passes/support/Shapes.h"
#include "passes/support/SkippedBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

ModuleOp cuda::kernelsOf(ModuleOp module) {
  if (auto kernels = module.lookupSymbol<ModuleOp>(kKernels))
    return kernels;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  return ModuleOp::create(b, module.getLoc(), kKernels);
}

void cuda::setBlock(func::FuncOp kernel, int64_t threads, int64_t sharedBytes) {
  MLIRContext *context = kernel.getContext();
  CudaDialect::BlockAttrHelper(context).setAttr(
      kernel, BlockAttr::get(context, threads, sharedBytes));
}

void cuda::setCycles(func::FuncOp kernel, int64_t cycles) {
  MLIRContext *context = kernel.getContext();
  CudaDialect::CyclesAttrHelper(context).setAttr(
      kernel, CyclesAttr::get(context, cycles));
}

/// Returns `blocks`, or 0 if the run skips one of the buffers: it has fewer
/// elements then than the kernel writes.
static Value unlessSkipped(OpBuilder &b, Location loc, ValueRange buffers,
                           Value blocks) {
  llvm::SetVector<Value> conditions;
  for (Value buffer : buffers)
    if (Value skipped = skippedWhen(buffer))
      conditions.insert(skipped);
  for (Value skipped : conditions)
    blocks = arith::SelectOp::create(
        b, loc, skipped, arith::ConstantIndexOp::create(b, loc, 0), blocks);
  return blocks;
}

void cuda::launch(OpBuilder &b, Location loc, func::FuncOp kernel,
                  ValueRange arguments, Value blocks, int64_t writes) {
  blocks = unlessSkipped(b, loc, arguments, blocks);
  auto name =
      SymbolRefAttr::get(b.getContext(), kKernels,
                         {FlatSymbolRefAttr::get(kernel.getSymNameAttr())});
  LaunchOp::create(b, loc, name, arguments, blocks,
                   b.getI64IntegerAttr(writes));
}

OpFoldResult cuda::multiplySizes(OpBuilder &b, Location loc, Value memref,
                                 ArrayRef<unsigned> dims) {
  return support::productOf(
      b, loc, llvm::map_to_vector(dims, [&](unsigned dim) {
        return memref::getMixedSize(b, loc, memref, dim);
      }));
}

Value cuda::countBlocks(OpBuilder &b, Location loc, OpFoldResult count,
                        int64_t perBlock) {
  using support::indexConstant;
  if (std::optional<int64_t> known = getConstantIntValue(count))
    return indexConstant(b, loc, int64_t(llvm::divideCeil(*known, perBlock)));
  Value all = arith::AddIOp::create(b, loc, cast<Value>(count),
                                    indexConstant(b, loc, perBlock - 1));
  return arith::DivUIOp::create(b, loc, all, indexConstant(b, loc, perBlock));
}

void cuda::requireCounted(OpBuilder &b, Location loc, ValueRange memrefs) {
  for (Value memref : memrefs) {
    if (cast<MemRefType>(memref.getType()).hasStaticShape())
      continue;
    auto elements = cast<Value>(
        support::productOf(b, loc, memref::getMixedSizes(b, loc, memref)));
    Value most = arith::ConstantIndexOp::create(b, loc, kMaxElements);
    Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                                       elements, most);
    require(b, loc, fits,
            "kernels of GPUs take tensors of up to {1} elements, but one has "
            "{0}",
            ValueRange{elements, most});
  }
}

int64_t cuda::outlineOps(
    ModuleOp module, function_ref<bool(Operation *)> isOutlined,
    function_ref<void(Operation *, loops::KernelTable &)> outline) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isOutlined(op) && op->getNumResults() == 0)
      ops.push_back(op);
  });
  if (ops.empty())
    return 0;
  loops::KernelTable table(kernelsOf(module));
  for (Operation *op : ops)
    outline(op, table);
  return table.numShared;
}

void cuda::emitKernels(
    ModuleOp kernels, function_ref<bool(Operation *)> isEmitted,
    function_ref<void(OpBuilder &, kernel::EpilogueOpInterface)> emit) {
  SmallVector<kernel::EpilogueOpInterface> ops;
  kernels.walk([&](kernel::EpilogueOpInterface op) {
    if (isEmitted(op))
      ops.push_back(op);
  });
  for (kernel::EpilogueOpInterface op : ops) {
    OpBuilder b(op);
    emit(b, op);
    op->erase();
  }
}
