//===- DnnlToCalls.cpp - dnnl-to-calls ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "ingot/abi/dnnl.h"
#include "passes/dnnl/lower/DnnlRecord.h"
#include "passes/dnnl/lower/Passes.h"
#include "passes/support/LibraryCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_DNNLTOCALLS
#include "passes/dnnl/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

// The functions of ingot/abi/dnnl.h.
static constexpr StringLiteral kExecute = "ingot_dnnl_execute";
static constexpr StringLiteral kLoad = "ingot_dnnl_load";
static constexpr StringLiteral kUnload = "ingot_dnnl_unload";
static constexpr StringLiteral kTable = "ingot_dnnl_table";
static constexpr StringLiteral kNames = "ingot_dnnl_names";

/// Returns the name of the ONNX node that an op comes from.
static StringRef nodeName(Location loc) {
  StringRef name;
  loc->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    name = named.getName();
    return WalkResult::interrupt();
  });
  return name;
}

namespace {

/// Stack memory for the arguments of one function's calls.
struct Frame {
  Value call;
  Value arguments;
  Value dynamic;
};

struct DnnlToCallsPass
    : ingot::impl::DnnlToCallsBase<DnnlToCallsPass> {
  void runOnOperation() override;

  LogicalResult convert(func::FuncOp function);
  FailureOr<Value> findCall(func::FuncOp function);
  void createCall(Operation *op, const DnnlRecord &record, int64_t index,
                  const Frame &frame);
  void createTable();
  void createLoad();

  SmallVector<int64_t> words;
  std::string names;
  int64_t count = 0;
};

} // namespace

FailureOr<Value> DnnlToCallsPass::findCall(func::FuncOp function) {
  if (BlockArgument call = findRunOperand(function, RunOperand::call))
    return Value(call);
  return function.emitError("expects an argument that is the call, which calls "
                            "of oneDNN are given");
}

void DnnlToCallsPass::createCall(Operation *op, const DnnlRecord &record,
                                        int64_t index, const Frame &frame) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SmallVector<Value> addresses;
  for (Value argument : record.arguments)
    addresses.push_back(support::addressOf(builder, loc, argument));
  support::storeAll(builder, loc, addresses, frame.arguments);
  support::storeAll(builder, loc, record.dynamic, frame.dynamic);
  Value arguments = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, frame.arguments);
  Value dynamic = memref::ExtractAlignedPointerAsIndexOp::create(
      builder, loc, frame.dynamic);
  Value number = arith::ConstantIndexOp::create(builder, loc, index);
  func::CallOp::create(builder, loc, kExecute, TypeRange(),
                       ValueRange{frame.call, number, arguments, dynamic});
}

LogicalResult DnnlToCallsPass::convert(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<dnnl::DnnlDialect>(op->getDialect()))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  FailureOr<Value> call = findCall(function);
  if (failed(call))
    return failure();

  SmallVector<DnnlRecord> records;
  size_t numArguments = 1, numDynamic = 1;
  for (Operation *op : ops) {
    OpBuilder builder(op);
    FailureOr<DnnlRecord> record =
        describeDnnlOp(builder, op, int64_t(names.size()));
    if (failed(record))
      return failure();
    names += nodeName(op->getLoc());
    names += '\0';
    llvm::append_range(words, record->words);
    numArguments = std::max(numArguments, record->arguments.size());
    numDynamic = std::max(numDynamic, record->dynamic.size());
    records.push_back(std::move(*record));
  }

  // Allocate one frame for all calls, since an alloca in a loop would grow the
  // stack.
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  auto allocate = [&](size_t size) -> Value {
    return memref::AllocaOp::create(
        builder, function.getLoc(),
        MemRefType::get({int64_t(size)}, builder.getI64Type()));
  };
  Frame frame{*call, allocate(numArguments), allocate(numDynamic)};
  for (auto [op, record] : llvm::zip_equal(ops, records)) {
    createCall(op, record, count++, frame);
    op->erase();
  }
  return success();
}

void DnnlToCallsPass::createTable() {
  SmallVector<int64_t> table{INGOT_DNNL_TABLE_VERSION, count,
                             int64_t(words.size()) + 3};
  llvm::append_range(table, words);
  Location loc = getOperation().getLoc();
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  auto global = [&](StringRef name, Type element, int64_t size,
                    Attribute value) {
    LLVM::GlobalOp::create(builder, loc,
                           LLVM::LLVMArrayType::get(element, size),
                           /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           value);
  };
  global(kTable, builder.getI64Type(), table.size(),
         builder.getI64TensorAttr(table));
  global(kNames, builder.getI8Type(), names.size(),
         builder.getStringAttr(names));
}

/// Creates the model's functions `load` and `unload`. They call the runtime's
/// functions with this table.
void DnnlToCallsPass::createLoad() {
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  Location loc = getOperation().getLoc();
  Type index = builder.getIndexType();
  auto pointer = LLVM::LLVMPointerType::get(&getContext());
  func::FuncOp::create(
      builder, loc, kExecute,
      builder.getFunctionType({pointer, index, index, index}, {}))
      .setPrivate();
  support::createForward(builder, loc, kLoadSymbol, kLoad,
                LLVM::LLVMFunctionType::get(builder.getI32Type(), {pointer}),
                {kTable, kNames});
  support::createForward(builder, loc, kUnloadSymbol, kUnload,
                LLVM::LLVMFunctionType::get(
                    LLVM::LLVMVoidType::get(&getContext()), {pointer, pointer}),
                {});
}

void DnnlToCallsPass::runOnOperation() {
  words.clear();
  names.clear();
  count = 0;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (failed(convert(function)))
      return signalPassFailure();
  if (count == 0)
    return;
  createTable();
  createLoad();
  IngotDialect::LibrariesAttrHelper(&getContext())
      .setAttr(getOperation(),
               ArrayAttr::get(&getContext(),
                              LibraryAttr::get(&getContext(), dnnl::kLibrary,
                                               /*ownThreads=*/true)));
}
