//===- LibraryCalls.cpp - calls of functions linked into a model ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/LibraryCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ingot;

Value support::addressOf(OpBuilder &builder, Location loc, Value memref) {
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  auto type = cast<MemRefType>(memref.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  if (succeeded(type.getStridesAndOffset(strides, offset)) && offset == 0)
    return address;
  Value shift = arith::ConstantIndexOp::create(builder, loc, offset);
  if (ShapedType::isDynamic(offset))
    shift = memref::ExtractStridedMetadataOp::create(builder, loc, memref)
                .getOffset();
  Value bytes = arith::ConstantIndexOp::create(
      builder, loc, std::max(1u, type.getElementTypeBitWidth() / 8));
  shift = arith::MulIOp::create(builder, loc, shift, bytes);
  return arith::AddIOp::create(builder, loc, address, shift);
}

void support::storeAll(OpBuilder &builder, Location loc, ArrayRef<Value> values,
                       Value frame) {
  for (auto [i, value] : llvm::enumerate(values)) {
    Value word =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    Value at = arith::ConstantIndexOp::create(builder, loc, i);
    memref::StoreOp::create(builder, loc, word, frame, at);
  }
}

Value support::checkedBytes(OpBuilder &b, Location loc, Type element,
                            ValueRange sizes) {
  Type i64 = b.getI64Type();
  auto pair =
      LLVM::LLVMStructType::getLiteral(b.getContext(), {i64, b.getI1Type()});
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  Value total = LLVM::ConstantOp::create(
      b, loc, i64, b.getI64IntegerAttr(llvm::divideCeil(bits, 8)));
  Value overflows = LLVM::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value isEmpty = overflows;
  Value zero = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(0));
  for (Value size : sizes) {
    isEmpty = LLVM::OrOp::create(
        b, loc, isEmpty,
        LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, size, zero));
    Value product = LLVM::UMulWithOverflowOp::create(b, loc, pair, total, size);
    total = LLVM::ExtractValueOp::create(b, loc, product, 0);
    overflows = LLVM::OrOp::create(
        b, loc, overflows, LLVM::ExtractValueOp::create(b, loc, product, 1));
  }
  Value most = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(-1));
  most = LLVM::SelectOp::create(b, loc, isEmpty, zero, most);
  return LLVM::SelectOp::create(b, loc, overflows, most, total);
}

void support::createForward(OpBuilder builder, Location loc, StringRef name,
                            StringRef callee, LLVM::LLVMFunctionType type,
                            ArrayRef<StringRef> globals) {
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  Block *body = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Value> arguments(body->getArguments());
  SmallVector<Type> types(type.getParams());
  for (StringRef global : globals) {
    Value address = LLVM::AddressOfOp::create(builder, loc, pointer, global);
    arguments.push_back(address);
    types.push_back(pointer);
  }
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(function);
    LLVM::LLVMFuncOp::create(
        builder, loc, callee,
        LLVM::LLVMFunctionType::get(type.getReturnType(), types));
  }
  TypeRange results = isa<LLVM::LLVMVoidType>(type.getReturnType())
                          ? TypeRange()
                          : TypeRange(type.getReturnTypes());
  auto call = LLVM::CallOp::create(builder, loc, results, callee, arguments);
  LLVM::ReturnOp::create(builder, loc, call->getResults());
}
