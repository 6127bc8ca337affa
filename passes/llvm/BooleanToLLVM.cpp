//===- BooleanToLLVM.cpp - booleans in memory to LLVM ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/BooleanToLLVM.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ingot;

namespace {

/// The address of an element of a memref of booleans. Other memrefs do not
/// match.
template <typename Op>
struct BooleanAccess : ConvertOpToLLVMPattern<Op> {
  explicit BooleanAccess(const LLVMTypeConverter &converter)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/2) {}

  Value addressOf(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const {
    auto type = cast<MemRefType>(op.getMemref().getType());
    if (!type.getElementType().isInteger(1))
      return {};
    return this->getStridedElementPtr(rewriter, op.getLoc(), type,
                                      adaptor.getMemref(),
                                      adaptor.getIndices());
  }
};

struct LoadBoolean : BooleanAccess<memref::LoadOp> {
  using BooleanAccess::BooleanAccess;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = addressOf(op, adaptor, rewriter);
    if (!address)
      return rewriter.notifyMatchFailure(op, "loads no boolean");
    Value byte = LLVM::LoadOp::create(rewriter, op.getLoc(),
                                      rewriter.getI8Type(), address);
    rewriter.replaceOpWithNewOp<LLVM::TruncOp>(op, rewriter.getI1Type(), byte);
    return success();
  }
};

struct StoreBoolean : BooleanAccess<memref::StoreOp> {
  using BooleanAccess::BooleanAccess;

  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value address = addressOf(op, adaptor, rewriter);
    if (!address)
      return rewriter.notifyMatchFailure(op, "stores no boolean");
    Value byte = LLVM::ZExtOp::create(rewriter, op.getLoc(),
                                      rewriter.getI8Type(), adaptor.getValue());
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, byte, address);
    return success();
  }
};

} // namespace

void codegen::populateBooleanToLLVM(const LLVMTypeConverter &converter,
                                    RewritePatternSet &patterns) {
  patterns.add<LoadBoolean, StoreBoolean>(converter);
}
