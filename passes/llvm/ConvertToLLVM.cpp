//===- ConvertToLLVM.cpp - ingot-convert-to-llvm --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/llvm/BooleanToLLVM.h"
#include "passes/llvm/BufferToLLVM.h"
#include "passes/llvm/LaunchToLLVM.h"
#include "passes/llvm/Passes.h"
#include "passes/support/LibraryCalls.h"

#include "mlir/Analysis/DataLayoutAnalysis.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/AMX/Transforms.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/Transforms.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace ingot {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using ingot::codegen::callArgument;
using ingot::codegen::callSupport;
using ingot::codegen::Functions;
using ingot::codegen::kRequire;

/// Functions of runtime/support that manage host memory of dynamic size.
static constexpr StringLiteral kAllocate = "ingot_support_allocate";
static constexpr StringLiteral kRoom = "ingot_support_room";
static constexpr StringLiteral kRelease = "ingot_support_release";
/// The function of runtime/support that shows a tensor to the observer of a
/// run.
static constexpr StringLiteral kObserve = "ingot_support_observe";

namespace {

/// Maps the text of a string that names an ONNX node to the string's symbol.
using Names = llvm::StringMap<std::string>;

/// Lowers ops that allocate memory during a run, where sizes may be dynamic.
template <typename Op> struct LowerMemory : ConvertOpToLLVMPattern<Op> {
  LowerMemory(const LLVMTypeConverter &converter, Functions &functions,
              Names &names)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10),
        functions(functions), names(names) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callArgument(op);
    auto type = cast<MemRefType>(op->getResult(0).getType());
    Type element = type.getElementType();
    bool isStatic = type.hasStaticShape();
    if (!call || !this->isConvertibleAndHasIdentityMaps(type) ||
        !(isStatic || element.isIntOrIndexOrFloat()))
      return op.emitError("cannot be allocated here");
    Location loc = op.getLoc();
    SmallVector<Value> sizes, strides;
    Value bytes;
    this->getMemRefDescriptorSizes(loc, type, adaptor.getDynamicSizes(),
                                   rewriter, sizes, strides, bytes);
    if (!isStatic)
      bytes = ingot::support::checkedBytes(rewriter, loc, element, sizes);
    FailureOr<LLVM::CallOp> made = ask(op, rewriter, call, bytes);
    if (failed(made))
      return failure();
    Value data = made->getResult();
    rewriter.replaceOp(op, {this->createMemRefDescriptor(loc, type, data, data,
                                                         sizes, strides,
                                                         rewriter)});
    return success();
  }

  FailureOr<LLVM::CallOp> ask(memref::AllocOp op, OpBuilder &b, Value call,
                              Value bytes) const {
    return callSupport(functions, b, op, kAllocate, call.getType(),
                       {call, bytes, nodeOf(op, b, call)});
  }
  FailureOr<LLVM::CallOp> ask(ingot::RoomOp op, OpBuilder &b, Value call,
                              Value bytes) const {
    Value number = LLVM::ConstantOp::create(b, op.getLoc(), b.getI64Type(),
                                            op.getNumberAttr());
    return callSupport(functions, b, op, kRoom, call.getType(),
                       {call, number, bytes, nodeOf(op, b, call)});
  }
  /// Returns the name of the op's ONNX node as a string. Returns null if the op
  /// has no name, or if the function computes several equal nodes.
  Value nodeOf(Operation *op, OpBuilder &b, Value call) const {
    std::string name = ingot::nodeNameOf(op->getLoc());
    auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
    auto argument = cast<BlockArgument>(call);
    StringRef mark = ingot::IngotDialect::OperandAttrHelper::getNameStr();
    if (name.empty() || !function.getArgAttr(argument.getArgNumber(), mark))
      return LLVM::ZeroOp::create(b, op->getLoc(), call.getType());
    name.push_back('\0');
    auto [symbol, isNew] = names.try_emplace(
        name, "ingot_node_" + std::to_string(names.size()));
    if (isNew)
      return LLVM::createGlobalString(op->getLoc(), b, symbol->second, name,
                                      LLVM::Linkage::Internal);
    return LLVM::AddressOfOp::create(b, op->getLoc(), call.getType(),
                                     symbol->second);
  }

  Functions &functions;
  Names &names;
};

struct LowerDealloc : ConvertOpToLLVMPattern<memref::DeallocOp> {
  LowerDealloc(const LLVMTypeConverter &converter, Functions &functions)
      : ConvertOpToLLVMPattern(converter, /*benefit=*/10),
        functions(functions) {}

  LogicalResult
  matchAndRewrite(memref::DeallocOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callArgument(op);
    if (!call)
      return op.emitError("cannot be released here");
    Value data = MemRefDescriptor(adaptor.getMemref())
                     .allocatedPtr(rewriter, op.getLoc());
    if (failed(callSupport(functions, rewriter, op, kRelease,
                           LLVM::LLVMVoidType::get(getContext()),
                           {call, data})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  Functions &functions;
};

struct LowerRequire : ConvertOpToLLVMPattern<ingot::RequireOp> {
  LowerRequire(const LLVMTypeConverter &converter, Functions &functions,
              int64_t &count)
      : ConvertOpToLLVMPattern(converter), functions(functions), count(count) {}

  LogicalResult
  matchAndRewrite(ingot::RequireOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callArgument(op);
    if (!call)
      return op.emitError("cannot be checked here");
    Location loc = op.getLoc();
    std::string text = op.getMessage().str();
    text.push_back('\0');
    Value message = LLVM::createGlobalString(
        loc, rewriter, "ingot_check_" + std::to_string(count++), text,
        LLVM::Linkage::Internal);
    Value holds = LLVM::ZExtOp::create(rewriter, loc, rewriter.getI32Type(),
                                       adaptor.getHolds());
    auto value = [&](size_t i) -> Value {
      if (i < adaptor.getValues().size())
        return adaptor.getValues()[i];
      return LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(),
                                      rewriter.getI64IntegerAttr(0));
    };
    if (failed(callSupport(functions, rewriter, op, kRequire,
                           LLVM::LLVMVoidType::get(getContext()),
                           {call, holds, message, value(0), value(1)})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  Functions &functions;
  int64_t &count;
};

struct LowerObserve : ConvertOpToLLVMPattern<ingot::ObserveOp> {
  LowerObserve(const LLVMTypeConverter &converter, Functions &functions)
      : ConvertOpToLLVMPattern(converter), functions(functions) {}

  LogicalResult
  matchAndRewrite(ingot::ObserveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value call = callArgument(op);
    auto type = cast<MemRefType>(op.getX().getType());
    uint32_t dtype = ingot::elementNumberOf(type.getElementType());
    if (!call || !dtype)
      return op.emitError("cannot be observed here");
    Location loc = op.getLoc();
    MemRefDescriptor descriptor(adaptor.getX());
    auto number = [&](Type type, int64_t value) -> Value {
      return LLVM::ConstantOp::create(rewriter, loc, type,
                                      rewriter.getIntegerAttr(type, value));
    };
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    int64_t rank = type.getRank();
    Value words = ingot::codegen::getFrame(op, std::max<int64_t>(2 * rank, 1),
                                           rewriter);
    auto at = [&](int64_t i) -> Value {
      return LLVM::GEPOp::create(rewriter, loc, call.getType(), i64, words,
                                 LLVM::GEPArg(int32_t(i)));
    };
    for (int64_t i = 0; i < rank; ++i) {
      LLVM::StoreOp::create(rewriter, loc, descriptor.size(rewriter, loc, i),
                            at(i));
      LLVM::StoreOp::create(rewriter, loc, descriptor.stride(rewriter, loc, i),
                            at(rank + i));
    }
    Value data =
        descriptor.bufferPtr(rewriter, loc, *getTypeConverter(), type);
    if (failed(
            callSupport(functions, rewriter, op, kObserve,
                        LLVM::LLVMVoidType::get(getContext()),
                        {call, number(i64, op.getNumber()), number(i32, dtype),
                         number(i32, rank), at(0), at(rank), data})))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }

  Functions &functions;
};

/// Lowers masked loads and stores of bf16 as loads and stores of i16, because
/// LLVM splits masked accesses of bf16 into scalars.
template <typename Op> struct LowerMaskedBF16 : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (!type.getElementType().isBF16())
      return rewriter.notifyMatchFailure(op, "is not of bf16");
    Location loc = op.getLoc();
    Value at = this->getStridedElementPtr(rewriter, loc, op.getMemRefType(),
                                          adaptor.getBase(),
                                          adaptor.getIndices());
    auto bits = VectorType::get(type.getShape(), rewriter.getI16Type());
    constexpr unsigned alignment = 2;
    if constexpr (std::is_same_v<Op, vector::MaskedLoadOp>) {
      Value rest = LLVM::BitcastOp::create(rewriter, loc, bits,
                                           adaptor.getPassThru());
      Value loaded = LLVM::MaskedLoadOp::create(
          rewriter, loc, bits, at, adaptor.getMask(), rest, alignment);
      rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, type, loaded);
    } else {
      Value stored = LLVM::BitcastOp::create(rewriter, loc, bits,
                                             adaptor.getValueToStore());
      rewriter.replaceOpWithNewOp<LLVM::MaskedStoreOp>(
          op, stored, at, adaptor.getMask(), alignment);
    }
    return success();
  }
};

/// Lowers a masked store of one constant lane that is narrower than 32 bits.
/// LLVM 22 merges such a store and the truncation before it into one scalar
/// store. The merged store has the width before truncation, so it overwrites
/// neighbours.
struct LowerStoreOfOneLane : ConvertOpToLLVMPattern<vector::MaskedStoreOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(vector::MaskedStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    DenseElementsAttr mask;
    if (type.getRank() != 1 || type.getElementTypeBitWidth() >= 32 ||
        !matchPattern(op.getMask(), m_Constant(&mask)))
      return rewriter.notifyMatchFailure(
          op, "is not of narrow elements with a constant mask");
    auto lanes = mask.getValues<bool>();
    if (llvm::count(lanes, true) != 1)
      return rewriter.notifyMatchFailure(op, "does not store one element");
    int64_t lane = llvm::find(lanes, true) - lanes.begin();
    Location loc = op.getLoc();
    Value at = getStridedElementPtr(rewriter, loc, op.getMemRefType(),
                                    adaptor.getBase(), adaptor.getIndices());
    Type element = adaptor.getValueToStore().getType();
    element = cast<VectorType>(element).getElementType();
    Value number = LLVM::ConstantOp::create(
        rewriter, loc, rewriter.getI64Type(), rewriter.getIndexAttr(lane));
    Value stored = LLVM::ExtractElementOp::create(
        rewriter, loc, adaptor.getValueToStore(), number);
    Value target = LLVM::GEPOp::create(rewriter, loc, at.getType(), element, at,
                                       LLVM::GEPArg(int32_t(lane)));
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, stored, target);
    return success();
  }
};

struct ConvertToLLVMPass
    : ingot::impl::ConvertToLLVMBase<ConvertToLLVMPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    LowerToLLVMOptions options(context);
    LLVMTypeConverter converter(context, options);
    RewritePatternSet patterns(context);
    Functions functions;
    Names names;
    patterns.add<LowerMemory<memref::AllocOp>, LowerMemory<ingot::RoomOp>>(
        converter, functions, names);
    patterns.add<LowerDealloc>(converter, functions);
    patterns.add<LowerMaskedBF16<vector::MaskedLoadOp>,
                 LowerMaskedBF16<vector::MaskedStoreOp>>(converter,
                                                         /*benefit=*/10);
    patterns.add<LowerStoreOfOneLane>(converter, /*benefit=*/11);
    int64_t checks = 0;
    patterns.add<LowerRequire>(converter, functions, checks);
    patterns.add<LowerObserve>(converter, functions);
    ingot::codegen::populateListToLLVM(converter, patterns, functions, checks);
    ingot::codegen::populateBooleanToLLVM(converter, patterns);
    ingot::codegen::populateBufferToLLVM(converter, patterns);
    ingot::codegen::populateLaunchToLLVM(converter, patterns, functions);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    // Pass a symbol table, because otherwise each call would search all symbols
    // for its callee. The table describes the module before the conversion,
    // which keeps the old functions until its end.
    SymbolTableCollection symbols;
    symbols.getSymbolTable(getOperation());
    populateFuncToLLVMConversionPatterns(converter, patterns, &symbols);
    // Some ops have patterns in both sets. Give these patterns a higher
    // benefit, because the other set calls libm for each element of a vector.
    // Only ops without an LLVM intrinsic need such calls.
    populateMathToLLVMConversionPatterns(converter, patterns,
                                         /*approximateLog1p=*/false,
                                         /*benefit=*/2);
    populateMathToLibmConversionPatterns(patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateX86VectorLegalizeForLLVMExportPatterns(converter, patterns);
    populateAMXLegalizeForLLVMExportPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);

    LLVMConversionTarget target(*context);
    configureX86VectorLegalizeForExportTarget(target);
    configureAMXLegalizeForExportTarget(target);
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(getOperation(), target,
                                   std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
