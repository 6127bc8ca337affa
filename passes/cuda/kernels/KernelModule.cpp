//===- KernelModule.cpp - the module of kernels ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/KernelModule.h"

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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

void cuda::launch(OpBuilder &b, Location loc, func::FuncOp kernel,
                  ValueRange arguments, Value blocks, int64_t writes) {
  auto name =
      SymbolRefAttr::get(b.getContext(), kKernels,
                         {FlatSymbolRefAttr::get(kernel.getSymNameAttr())});
  LaunchOp::create(b, loc, name, arguments, blocks,
                   b.getI64IntegerAttr(writes));
}

OpFoldResult cuda::multiplySizes(OpBuilder &b, Location loc, Value memref,
                                 ArrayRef<unsigned> dims) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t known = 1;
  Value open;
  for (unsigned dim : dims) {
    if (!type.isDynamicDim(dim)) {
      known *= type.getDimSize(dim);
      continue;
    }
    Value size = memref::DimOp::create(b, loc, memref, dim);
    open = open ? arith::MulIOp::create(b, loc, open, size).getResult() : size;
  }
  if (!open)
    return b.getIndexAttr(known);
  Value factor = arith::ConstantIndexOp::create(b, loc, known);
  return arith::MulIOp::create(b, loc, open, factor).getResult();
}

void cuda::requireCounted(OpBuilder &b, Location loc, ValueRange memrefs) {
  for (Value memref : memrefs) {
    auto type = cast<MemRefType>(memref.getType());
    if (type.hasStaticShape())
      continue;
    auto dims = llvm::to_vector(llvm::seq(0u, unsigned(type.getRank())));
    auto elements = cast<Value>(multiplySizes(b, loc, memref, dims));
    Value most = arith::ConstantIndexOp::create(b, loc, kMaxElements);
    Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                                       elements, most);
    require(b, loc, fits,
            "kernels of GPUs take tensors of up to {1} elements, but one has "
            "{0}",
            ValueRange{elements, most});
  }
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
