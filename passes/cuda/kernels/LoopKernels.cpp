//===- LoopKernels.cpp - kernels of linalg ops ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/LoopKernels.h"

#include "ingot/abi/cuda.h"
#include "passes/cuda/host/HostMemory.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/kernels/OpenWords.h"
#include "passes/math/Functions.h"
#include "passes/support/Contains.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Returns true if there is code for GPUs for a function of the math dialect:
/// instructions, or what passes of math replace it by.
static bool hasCode(Operation *op) {
  return elementary::isApproximated(op) || elementary::isExpanded(op) ||
         isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::RoundOp, math::RsqrtOp, math::SqrtOp, math::TruncOp>(op);
}

Reason cuda::whyNoKernel(linalg::LinalgOp op, const loops::Captures &captures) {
  if (llvm::any_of(captures.memrefs, isOfHost))
    return "uses a buffer of the host";
  if (!captures.areComplete()) {
    const std::string source = describeSource(captures.unknown, op);
    return "uses a value that only the host knows" +
           (source.empty() ? "" : ", from " + source);
  }
  if (llvm::any_of(captures.memrefs, [](Value memref) {
        auto type = cast<MemRefType>(memref.getType());
        int64_t offset;
        SmallVector<int64_t> strides;
        return failed(type.getStridesAndOffset(strides, offset));
      }))
    return "has elements that are not at regular distances";
  if (support::contains(op, [](Operation *inside) {
        return isa_and_present<math::MathDialect>(inside->getDialect()) &&
               !hasCode(inside);
      }))
    return "computes a function that GPUs lack";
  size_t numParameters = captures.memrefs.size();
  for (Value memref : captures.memrefs)
    numParameters += OpenWords(cast<MemRefType>(memref.getType())).count();
  if (numParameters > INGOT_CUDA_MAX_PARAMETERS)
    return "reads more buffers than a kernel takes";
  SmallVector<unsigned> parallel = ElementEmitter::parallelLoops(op);
  for (OpOperand &init : op.getDpsInitsMutable())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (!llvm::is_contained(parallel, loop) &&
          op.getMatchingIndexingMap(&init).isFunctionOfDim(loop))
        return "writes its result in the steps of a reduction";
  if (support::contains(op, loops::needsRun))
    return "ends the run if its data are wrong";
  return std::nullopt;
}

void cuda::markAligned(func::FuncOp kernel, unsigned parameter, MemRefType type,
                       int64_t count) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (count == 1 || !type.getElementType().isIntOrFloat() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) || offset % count != 0)
    return;
  const int64_t bytes = int64_t(
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
  kernel.setArgAttr(
      parameter, LLVM::LLVMDialect::getAlignAttrName(),
      Builder(kernel.getContext()).getI64IntegerAttr(count * bytes));
}

LoopKernel::LoopKernel(OpBuilder &b, linalg::LinalgOp op,
                       const loops::Captures &captures, int64_t threads,
                       int64_t sharedBytes, int64_t count)
    : b(b), op(op), memrefs(captures.memrefs.getArrayRef()),
      kernel(loops::KernelTable::create(b, op.getLoc(), memrefs, {})) {
  setBlock(kernel, threads, sharedBytes);
  for (auto [i, memref] : llvm::enumerate(memrefs))
    markAligned(kernel, unsigned(i), cast<MemRefType>(memref.getType()), count);
  outside.map(memrefs, kernel.getArguments());
  for (Operation *repeated : captures.repeated)
    b.clone(*repeated, outside);
}

void LoopKernel::launch(loops::KernelTable &table, StringRef prefix,
                        ArrayRef<unsigned> loops, int64_t perBlock) {
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  std::optional<int64_t> known = staticSteps(op, loops);
  OpFoldResult steps = known ? OpFoldResult(b.getIndexAttr(*known))
                             : countSteps(b, op, loops, IRMapping());
  launch(table, prefix, countBlocks(b, loc, steps, perBlock));
}

void LoopKernel::launch(loops::KernelTable &table, StringRef prefix,
                        Value blocks) {
  kernel = table.insert(kernel, prefix);
  b.setInsertionPoint(op);
  cuda::launch(b, op.getLoc(), kernel, memrefs, blocks,
               int64_t(memrefs.size()));
  op->erase();
}
