//===- KernelModule.cpp - the module of kernels ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/KernelModule.h"

#include "dialects/cuda/CudaDialect.h"

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
