//===- KernelsToNVVM.cpp - cuda-kernels-to-nvvm ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Transforms/DialectConversion.h"

namespace ingot {
#define GEN_PASS_DEF_KERNELSTONVVM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

struct KernelsToNVVMPass : ingot::impl::KernelsToNVVMBase<KernelsToNVVMPass> {
  void runOnOperation() override;
};

/// Lowers the number of a block or thread, which has 32 bits, to a special
/// register.
template <typename Op, typename Register>
struct LowerNumber : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getDimension() != gpu::Dimension::x)
      return rewriter.notifyMatchFailure(op, "is not of dimension x");
    Value number =
        Register::create(rewriter, op.getLoc(), rewriter.getI32Type(), nullptr);
    rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, rewriter.getI64Type(),
                                              number);
    return success();
  }
};

} // namespace

/// Marks a function as a kernel with this number of threads.
static void markKernel(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  BlockAttr block = CudaDialect::BlockAttrHelper(context).getAttr(kernel);
  if (!block)
    return;
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                  UnitAttr::get(context));
  kernel->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      DenseI32ArrayAttr::get(context, {int32_t(block.getThreads()), 1, 1}));
  kernel.setPublic();
  kernel->removeAttr("llvm.linkage");
}

void KernelsToNVVMPass::runOnOperation() {
  MLIRContext *context = &getContext();
  for (auto kernel : getOperation().getOps<func::FuncOp>())
    markKernel(kernel);
  LowerToLLVMOptions options(context);
  options.useBarePtrCallConv = true;
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  memref::populateExpandStridedMetadataPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  patterns.add<LowerNumber<gpu::BlockIdOp, NVVM::BlockIdXOp>,
               LowerNumber<gpu::ThreadIdOp, NVVM::ThreadIdXOp>>(context);
  LLVMConversionTarget target(*context);
  target.addLegalDialect<NVVM::NVVMDialect>();
  target.addLegalOp<ModuleOp>();
  if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
    signalPassFailure();
}
