//===- LaunchToLLVM.cpp - cpu.launch to LLVM ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/LaunchToLLVM.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/support/Thresholds.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;

/// Functions of runtime/support.
static constexpr StringLiteral kParallel = "ingot_support_parallel";
static constexpr StringLiteral kChunk = "ingot_support_chunk";

Value codegen::callArgument(Operation *op) {
  auto function = op->getParentOfType<LLVM::LLVMFuncOp>();
  if (!function || function.getNumArguments() == 0)
    return {};
  Value last = function.getArguments().back();
  return isa<LLVM::LLVMPointerType>(last.getType()) ? last : Value();
}

FailureOr<LLVM::LLVMFuncOp>
codegen::Functions::support(OpBuilder &builder, Operation *op, StringRef name,
                            ArrayRef<Type> parameters, Type result) {
  LLVM::LLVMFuncOp &function = byName[name];
  if (function)
    return function;
  FailureOr<LLVM::LLVMFuncOp> found = LLVM::lookupOrCreateFn(
      builder, op->getParentOfType<ModuleOp>(), name, parameters, result);
  if (succeeded(found))
    function = *found;
  return found;
}

namespace {

/// A memref that a task's function assembles from 64-bit fields: the address,
/// then the dynamic sizes and strides.
struct Parameter {
  explicit Parameter(MemRefType type) : type(type) {
    int64_t offset;
    (void)type.getStridesAndOffset(strides, offset);
  }

  MemRefType type;
  SmallVector<int64_t> strides;
};

struct LowerLaunch : ConvertOpToLLVMPattern<cpu::LaunchOp> {
  LowerLaunch(const LLVMTypeConverter &converter,
              codegen::Functions &functions)
      : ConvertOpToLLVMPattern(converter), functions(functions) {}

  LogicalResult
  matchAndRewrite(cpu::LaunchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;

  SmallVector<Value> wordsOf(cpu::LaunchOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const;
  LLVM::LLVMFuncOp getTask(cpu::LaunchOp op,
                           ConversionPatternRewriter &rewriter) const;
  void unpack(const Parameter &parameter, Value words, int64_t &next,
              SmallVectorImpl<Value> &arguments, Location loc,
              ConversionPatternRewriter &rewriter) const;

  codegen::Functions &functions;
};

struct LowerChunk : ConvertOpToLLVMPattern<ChunkOp> {
  LowerChunk(const LLVMTypeConverter &converter, codegen::Functions &functions)
      : ConvertOpToLLVMPattern(converter), functions(functions) {}

  LogicalResult
  matchAndRewrite(ChunkOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;

  codegen::Functions &functions;
};

} // namespace

/// Returns the fields that the task's function reads from its frame, as i64.
SmallVector<Value>
LowerLaunch::wordsOf(cpu::LaunchOp op, OpAdaptor adaptor,
                     ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  SmallVector<Value> words;
  for (auto [given, converted] :
       llvm::zip_equal(op.getArgs(), adaptor.getArgs())) {
    Parameter parameter(cast<MemRefType>(given.getType()));
    MemRefDescriptor descriptor(converted);
    Value address = descriptor.bufferPtr(rewriter, loc, *getTypeConverter(),
                                         parameter.type);
    words.push_back(LLVM::PtrToIntOp::create(rewriter, loc, getIndexType(),
                                             address));
    for (int64_t i = 0; i < parameter.type.getRank(); ++i)
      if (parameter.type.isDynamicDim(i))
        words.push_back(descriptor.size(rewriter, loc, i));
    for (auto [i, stride] : llvm::enumerate(parameter.strides))
      if (ShapedType::isDynamic(stride))
        words.push_back(descriptor.stride(rewriter, loc, i));
  }
  return words;
}

void LowerLaunch::unpack(const Parameter &parameter, Value words, int64_t &next,
                         SmallVectorImpl<Value> &arguments, Location loc,
                         ConversionPatternRewriter &rewriter) const {
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  auto word = [&](Type type) -> Value {
    Value at = LLVM::GEPOp::create(rewriter, loc, pointer, getIndexType(),
                                   words, LLVM::GEPArg(next++));
    return LLVM::LoadOp::create(rewriter, loc, type, at);
  };
  auto number = [&](int64_t value) -> Value {
    if (ShapedType::isDynamic(value))
      return word(getIndexType());
    return LLVM::ConstantOp::create(rewriter, loc, getIndexType(), value);
  };
  Value data = word(pointer);
  arguments.append({data, data, number(0)});
  for (int64_t size : parameter.type.getShape())
    arguments.push_back(number(size));
  for (int64_t stride : parameter.strides)
    arguments.push_back(number(stride));
}

/// Returns the function that runs one task. Its parameters are the frame and
/// the task's number.
LLVM::LLVMFuncOp
LowerLaunch::getTask(cpu::LaunchOp op,
                     ConversionPatternRewriter &rewriter) const {
  auto module = op->getParentOfType<ModuleOp>();
  std::string name = (op.getKernel() + ".task").str();
  LLVM::LLVMFuncOp &task = functions.byName[name];
  // Do not inline a kernel that is launched often, because each launch would
  // get a copy of the kernel.
  if (++functions.launches[op.getKernel()] == threshold::inlinedLaunches)
    task.setNoInline(true);
  if (task)
    return task;
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(getContext()), {pointer, getIndexType()});
  task = LLVM::LLVMFuncOp::create(rewriter, loc, name, type,
                                  LLVM::Linkage::Internal);
  Block *body = task.addEntryBlock(rewriter);
  rewriter.setInsertionPointToStart(body);
  SmallVector<Value> arguments;
  int64_t next = 0;
  for (Value given : op.getArgs())
    unpack(Parameter(cast<MemRefType>(given.getType())), body->getArgument(0),
           next, arguments, loc, rewriter);
  arguments.push_back(body->getArgument(1));
  LLVM::CallOp::create(rewriter, loc, TypeRange(), op.getKernel(), arguments);
  LLVM::ReturnOp::create(rewriter, loc, ValueRange());
  return task;
}

FailureOr<LLVM::CallOp> codegen::callSupport(Functions &functions, OpBuilder &b,
                                             Operation *op, StringRef name,
                                             Type result,
                                             ValueRange arguments) {
  FailureOr<LLVM::LLVMFuncOp> callee = functions.support(
      b, op, name, llvm::to_vector(arguments.getTypes()), result);
  if (failed(callee))
    return failure();
  return LLVM::CallOp::create(b, op->getLoc(), *callee, arguments);
}

Value codegen::getFrame(Operation *op, int64_t numWords,
                        ConversionPatternRewriter &rewriter) {
  Type word = rewriter.getI64Type();
  IngotDialect::ScratchAttrHelper mark(op->getContext());
  auto name = rewriter.getStringAttr("frame of launches");
  Block &entry = op->getParentOfType<LLVM::LLVMFuncOp>().getBody().front();
  auto count = dyn_cast<LLVM::ConstantOp>(entry.front());
  auto frame =
      dyn_cast_or_null<LLVM::AllocaOp>(entry.front().getNextNode());
  if (count && frame && mark.getAttr(frame) == name) {
    if (cast<IntegerAttr>(count.getValue()).getInt() < numWords)
      rewriter.modifyOpInPlace(count, [&] {
        count.setValueAttr(IntegerAttr::get(word, numWords));
      });
    return frame;
  }
  Location loc = op->getLoc();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&entry);
  count = LLVM::ConstantOp::create(rewriter, loc, word, numWords);
  frame = LLVM::AllocaOp::create(
      rewriter, loc, LLVM::LLVMPointerType::get(rewriter.getContext()), word,
      count);
  mark.setAttr(frame, name);
  return frame;
}

LogicalResult
LowerLaunch::matchAndRewrite(cpu::LaunchOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Value call = codegen::callArgument(op);
  if (!call)
    return op.emitError("cannot be launched here");
  Location loc = op.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  SmallVector<Value> words = wordsOf(op, adaptor, rewriter);
  Value frame = codegen::getFrame(op, words.size(), rewriter);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value at = LLVM::GEPOp::create(rewriter, loc, pointer, getIndexType(),
                                   frame, LLVM::GEPArg(int32_t(i)));
    LLVM::StoreOp::create(rewriter, loc, word, at);
  }
  LLVM::LLVMFuncOp task = getTask(op, rewriter);
  APInt tasks;
  if (matchPattern(op.getTasks(), m_ConstantInt(&tasks)) && tasks == 1) {
    Value first = LLVM::ConstantOp::create(rewriter, loc, getIndexType(), 0);
    LLVM::CallOp::create(rewriter, loc, task, ValueRange{frame, first});
    rewriter.eraseOp(op);
    return success();
  }
  FailureOr<LLVM::LLVMFuncOp> parallel = functions.support(
      rewriter, op, kParallel, {pointer, pointer, pointer, getIndexType()},
      LLVM::LLVMVoidType::get(getContext()));
  if (failed(parallel))
    return failure();
  Value address = LLVM::AddressOfOp::create(rewriter, loc, task);
  LLVM::CallOp::create(rewriter, loc, *parallel,
                       ValueRange{call, address, frame, adaptor.getTasks()});
  rewriter.eraseOp(op);
  return success();
}

LogicalResult
LowerChunk::matchAndRewrite(ChunkOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  Value perThread = LLVM::ConstantOp::create(rewriter, op.getLoc(),
                                             getIndexType(), op.getPerThread());
  FailureOr<LLVM::CallOp> made =
      codegen::callSupport(functions, rewriter, op, kChunk, getIndexType(),
                           {adaptor.getCall(), adaptor.getImages(), perThread});
  if (failed(made))
    return failure();
  rewriter.replaceOp(op, *made);
  return success();
}

void codegen::populateLaunchToLLVM(const LLVMTypeConverter &converter,
                                   RewritePatternSet &patterns,
                                   Functions &functions) {
  patterns.add<LowerChunk, LowerLaunch>(converter, functions);
}
