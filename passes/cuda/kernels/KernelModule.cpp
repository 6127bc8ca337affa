//===- KernelModule.cpp - the module of kernels ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/kernels/KernelModule.h"

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/products/Code.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Name of the dynamic shared memory of a block.
static constexpr StringLiteral kShared = "ingot_cuda_shared";

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

void cuda::declareShared(ModuleOp kernels) {
  if (kernels.lookupSymbol(kShared))
    return;
  OpBuilder b = OpBuilder::atBlockBegin(kernels.getBody());
  LLVM::GlobalOp::create(b, kernels.getLoc(),
                         LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                         /*isConstant=*/false, LLVM::Linkage::External, kShared,
                         Attribute(), /*alignment=*/16, kSharedSpace);
}

Value cuda::sharedMemory(OpBuilder &b, Location loc) {
  return LLVM::AddressOfOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace),
      kShared);
}
