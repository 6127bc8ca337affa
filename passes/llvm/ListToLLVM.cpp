//===- ListToLLVM.cpp - what loops ask of the runtime --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/llvm/LaunchToLLVM.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

static constexpr StringLiteral kPoll = "ingot_support_poll";
static constexpr StringLiteral kList = "ingot_support_list";
static constexpr StringLiteral kAppend = "ingot_support_append";
static constexpr StringLiteral kStack = "ingot_support_stack";

namespace {

template <typename Op> struct LowerToSupport : ConvertOpToLLVMPattern<Op> {
  LowerToSupport(const LLVMTypeConverter &converter, Functions &functions)
      : ConvertOpToLLVMPattern<Op>(converter), functions(functions) {}

protected:
  /// Returns the run's call. If the function has none, emits an error and
  /// returns null.
  static Value callOf(Op op) {
    Value call = callArgument(op);
    if (!call)
      op.emitError("needs the run's call");
    return call;
  }
  static Value number(OpBuilder &b, Location loc, unsigned width,
                      int64_t value) {
    Type type = b.getIntegerType(width);
    return LLVM::ConstantOp::create(b, loc, type,
                                    b.getIntegerAttr(type, value));
  }
  static Value wordAt(OpBuilder &b, Location loc, Value words, int64_t i) {
    return LLVM::GEPOp::create(b, loc, words.getType(), b.getI64Type(), words,
                               LLVM::GEPArg(int32_t(i)));
  }
  static Value asPointer(OpBuilder &b, Location loc, Value address) {
    return LLVM::IntToPtrOp::create(
        b, loc, LLVM::LLVMPointerType::get(b.getContext()), address);
  }

  Functions &functions;
};

struct LowerPoll : LowerToSupport<PollOp> {
  using LowerToSupport::LowerToSupport;

  LogicalResult
  matchAndRewrite(PollOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callOf(op);
    if (!call ||
        failed(callSupport(functions, rewriter, op, kPoll,
                           LLVM::LLVMVoidType::get(getContext()), call)))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerList : LowerToSupport<ListOp> {
  using LowerToSupport::LowerToSupport;

  LogicalResult
  matchAndRewrite(ListOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callOf(op);
    if (!call)
      return failure();
    auto list =
        callSupport(functions, rewriter, op, kList, call.getType(), call);
    if (failed(list))
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::PtrToIntOp>(
        op, getTypeConverter()->convertType(op.getType()), list->getResult());
    return success();
  }
};

struct LowerAppend : LowerToSupport<AppendOp> {
  LowerAppend(const LLVMTypeConverter &converter, Functions &functions,
              int64_t &texts)
      : LowerToSupport(converter, functions), texts(texts) {}

  LogicalResult
  matchAndRewrite(AppendOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callOf(op);
    auto type = dyn_cast<MemRefType>(op.getX().getType());
    if (!call || !type || !type.getElementType().isIntOrIndexOrFloat())
      return op.emitError("cannot be kept in a list");
    Location loc = op.getLoc();
    MemRefDescriptor descriptor(adaptor.getX());
    int64_t rank = type.getRank();
    Value words = getFrame(op, std::max<int64_t>(2 * rank, 1), rewriter);
    for (int64_t i = 0; i < rank; ++i) {
      LLVM::StoreOp::create(rewriter, loc, descriptor.size(rewriter, loc, i),
                            wordAt(rewriter, loc, words, i));
      LLVM::StoreOp::create(rewriter, loc, descriptor.stride(rewriter, loc, i),
                            wordAt(rewriter, loc, words, rank + i));
    }
    std::string text = op.getMessage().str();
    text.push_back('\0');
    Value message = LLVM::createGlobalString(
        loc, rewriter, "ingot_check_" + std::to_string(texts++), text,
        LLVM::Linkage::Internal);
    Value data = descriptor.bufferPtr(rewriter, loc, *getTypeConverter(), type);
    unsigned bits = type.getElementType().isIndex()
                        ? 64
                        : type.getElementTypeBitWidth();
    if (failed(callSupport(
            functions, rewriter, op, kAppend,
            LLVM::LLVMVoidType::get(getContext()),
            {call, asPointer(rewriter, loc, adaptor.getList()),
             number(rewriter, loc, 64, llvm::divideCeil(bits, 8)),
             number(rewriter, loc, 32, rank), wordAt(rewriter, loc, words, 0),
             wordAt(rewriter, loc, words, rank), data, message})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  int64_t &texts;
};

struct LowerStack : LowerToSupport<StackOp> {
  using LowerToSupport::LowerToSupport;

  LogicalResult
  matchAndRewrite(StackOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callOf(op);
    auto type = dyn_cast<MemRefType>(op.getAll().getType());
    if (!call || !type)
      return op.emitError("cannot be taken from a list");
    Location loc = op.getLoc();
    int64_t rank = type.getRank();
    Value words = getFrame(op, rank, rewriter);
    for (auto [i, size] : llvm::enumerate(type.getShape()))
      LLVM::StoreOp::create(
          rewriter, loc,
          number(rewriter, loc, 64, ShapedType::isDynamic(size) ? -1 : size),
          wordAt(rewriter, loc, words, i));
    auto taken = callSupport(functions, rewriter, op, kStack, call.getType(),
                             {call, asPointer(rewriter, loc, adaptor.getList()),
                              number(rewriter, loc, 32, rank - 1),
                              wordAt(rewriter, loc, words, 0)});
    if (failed(taken))
      return failure();
    SmallVector<Value> sizes(rank), strides(rank);
    Value step = number(rewriter, loc, 64, 1);
    for (int64_t i = rank; i-- > 0;) {
      sizes[i] = LLVM::LoadOp::create(rewriter, loc, rewriter.getI64Type(),
                                      wordAt(rewriter, loc, words, i));
      strides[i] = step;
      step = LLVM::MulOp::create(rewriter, loc, step, sizes[i]);
    }
    Value data = taken->getResult();
    rewriter.replaceOp(op, {createMemRefDescriptor(loc, type, data, data, sizes,
                                                   strides, rewriter)});
    return success();
  }
};

} // namespace

void codegen::populateListToLLVM(const LLVMTypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 Functions &functions, int64_t &texts) {
  patterns.add<LowerPoll, LowerList, LowerStack>(converter, functions);
  patterns.add<LowerAppend>(converter, functions, texts);
}
