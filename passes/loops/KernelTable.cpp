//===- KernelTable.cpp - one function for equal kernels -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/KernelTable.h"

#include "dialects/ingot/IngotDialect.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::loops;

bool loops::needsRun(Operation *op) {
  return isa<RequireOp, ObserveOp, PollOp, ListOp, AppendOp, RoomOp,
             memref::AllocOp, memref::DeallocOp>(op);
}

/// Returns the type of a kernel's parameter for an operand of `type`. The
/// offset is dropped, since the launch adds it to the address.
static MemRefType parameterType(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (type.getLayout().isIdentity() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return type;
  return MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, strides));
}

func::FuncOp KernelTable::create(OpBuilder &builder, Location loc,
                                 ValueRange arguments, TypeRange further) {
  SmallVector<Type> parameters;
  for (Value argument : arguments)
    parameters.push_back(parameterType(cast<MemRefType>(argument.getType())));
  llvm::append_range(parameters, further);
  auto kernel = func::FuncOp::create(loc, "kernel",
                                     builder.getFunctionType(parameters, {}));
  kernel.setPrivate();
  kernel->setAttr("llvm.linkage",
                  LLVM::LinkageAttr::get(builder.getContext(),
                                         LLVM::Linkage::Internal));
  IngotDialect::KernelAttrHelper(builder.getContext())
      .setAttr(kernel, builder.getUnitAttr());
  Block *body = kernel.addEntryBlock();
  builder.setInsertionPointToStart(body);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(body);
  return kernel;
}

func::FuncOp KernelTable::insert(func::FuncOp kernel, StringRef prefix) {
  std::string text;
  llvm::raw_string_ostream out(text);
  kernel->print(out, OpPrintingFlags().useLocalScope());
  auto [at, isNew] = kernels.try_emplace(text, kernel);
  if (!isNew) {
    kernel->erase();
    ++numShared;
    return at->second;
  }
  kernel.setName((prefix + Twine(kernels.size() - 1)).str());
  symbols.insert(kernel);
  return kernel;
}
