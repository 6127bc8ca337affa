//===- BufferToLLVM.cpp - ingot.buffer to LLVM ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/BufferToLLVM.h"

#include "dialects/ingot/IngotDialect.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ingot;

namespace {

struct LowerBuffer : ConvertOpToLLVMPattern<BufferOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(BufferOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
LowerBuffer::matchAndRewrite(BufferOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  // Marks loads as invariant, because the tables in the run's ingot_abi_call do
  // not change during a run.
  auto load = [&](Type type, Value base, uint64_t offset) -> Value {
    Value at = LLVM::GEPOp::create(rewriter, loc, pointer, rewriter.getI8Type(),
                                   base, LLVM::GEPArg(int32_t(offset)));
    auto loaded = LLVM::LoadOp::create(rewriter, loc, type, at);
    loaded.setInvariant(true);
    return loaded;
  };
  Value table = load(pointer, adaptor.getCall(),
                     op.getIsOutput() ? offsetof(ingot_abi_call, outputs)
                                      : offsetof(ingot_abi_call, inputs));
  uint64_t row = op.getNumber() * sizeof(ingot_abi_buffer);
  if (!llvm::isInt<32>(row + sizeof(ingot_abi_buffer)))
    return op.emitError("is one of too many");
  auto type = cast<MemRefType>(op.getType());
  Value data = load(pointer, table, row + offsetof(ingot_abi_buffer, data));
  Value dims;
  if (!type.hasStaticShape())
    dims = load(pointer, table, row + offsetof(ingot_abi_buffer, dims));
  SmallVector<Value> open, sizes, strides;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      open.push_back(load(getIndexType(), dims, i * sizeof(int64_t)));
  Value bytes;
  getMemRefDescriptorSizes(loc, type, open, rewriter, sizes, strides, bytes,
                           /*sizeInBytes=*/false);
  rewriter.replaceOp(op, {createMemRefDescriptor(loc, type, data, data, sizes,
                                                 strides, rewriter)});
  return success();
}

void codegen::populateBufferToLLVM(const LLVMTypeConverter &converter,
                                   RewritePatternSet &patterns) {
  patterns.add<LowerBuffer>(converter);
}
