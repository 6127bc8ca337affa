//===- StoreOutputCall.cpp - passes an output to the host -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/StoreOutputCall.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace ingot;

/// Functions of runtime/support, for numbers and for strings.
static constexpr StringLiteral kStoreOutput = "ingot_support_store_output";
static constexpr StringLiteral kStoreStrings = "ingot_support_store_strings";

static func::FuncOp declare(ModuleOp module, StringRef name) {
  if (auto declared = module.lookupSymbol<func::FuncOp>(name))
    return declared;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type index = builder.getIndexType();
  auto function = func::FuncOp::create(
      builder, module.getLoc(), name,
      builder.getFunctionType({LLVM::LLVMPointerType::get(module.getContext()),
                               index, index, index, index, index},
                              {}));
  function.setPrivate();
  return function;
}

StoreOutputCall StoreOutputCall::create(OpBuilder &builder, Location loc,
                                        ModuleOp module,
                                        const Operands &operands,
                                        bool isOfStrings) {
  return StoreOutputCall(func::CallOp::create(
      builder, loc, declare(module, isOfStrings ? kStoreStrings : kStoreOutput),
      {operands.call, operands.number, operands.rank, operands.sizes,
       operands.data, operands.bits}));
}

StoreOutputCall StoreOutputCall::find(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  bool isStore = call && (call.getCallee() == kStoreOutput ||
                          call.getCallee() == kStoreStrings);
  return StoreOutputCall(isStore ? call : func::CallOp());
}

StoreOutputCall::Operands StoreOutputCall::getOperands() const {
  func::CallOp call = op;
  return {call.getOperand(0), call.getOperand(1), call.getOperand(2),
          call.getOperand(3), call.getOperand(4), call.getOperand(5)};
}

bool StoreOutputCall::isOfStrings() const {
  func::CallOp call = op;
  return call.getCallee() == kStoreStrings;
}
