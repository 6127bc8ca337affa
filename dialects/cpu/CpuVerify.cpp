//===- CpuVerify.cpp - common parts of verifiers --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"

#include "dialects/cpu/Signs.h"

using namespace mlir;
using namespace ingot::cpu;

LogicalResult checks::expectAtLeast(Operation *op, StringRef what,
                                    int64_t least, ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value < least)
      return op->emitOpError("expects ")
             << what << " of at least " << least << ", but got " << value;
  return success();
}

LogicalResult checks::expectPanel(Operation *op, int64_t width) {
  if (width == 16 || width == 32 || width == 64)
    return success();
  return op->emitOpError("expects panels of 16, 32 or 64 channels, but got ")
         << width;
}

Type checks::signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

/// Verifies that the region has an argument for the sum and for each operand.
static LogicalResult verifyArguments(ingot::kernel::EpilogueOpInterface op) {
  OperandRange operands = op.getEpilogueOperands();
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != operands.size() + 1)
    return op->emitOpError("expects ")
           << operands.size() + 1 << " epilogue arguments, but got "
           << body.getNumArguments();
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body.getArguments().drop_front())) {
    Type element = checks::signless(checks::typeOf(operand).getElementType());
    if (element != argument.getType())
      return op->emitOpError("expects an epilogue argument of type ")
             << element << ", but got " << argument.getType();
  }
  return success();
}

/// Verifies that the region yields `count` values of `type`.
static LogicalResult verifyYield(ingot::kernel::EpilogueOpInterface op,
                                 size_t count, Type type) {
  auto yield = cast<YieldOp>(op.getEpilogue().front().getTerminator());
  if (yield.getValues().size() != count)
    return op->emitOpError("expects an epilogue that yields ")
           << count << " value" << (count == 1 ? "" : "s") << ", but got "
           << yield.getValues().size();
  for (Value value : yield.getValues())
    if (value.getType() != type)
      return op->emitOpError("expects an epilogue that yields ")
             << type << ", but got " << value.getType();
  return success();
}

LogicalResult checks::verifyEpilogue(ingot::kernel::EpilogueOpInterface op,
                                     Value dst) {
  return failure(
      failed(verifyBroadcast(op, "epilogue", op.getEpilogueOperands(), dst)) ||
      failed(verifyArguments(op)) ||
      failed(verifyYield(op, 1, signless(typeOf(dst).getElementType()))));
}

LogicalResult checks::verifySignEpilogue(ingot::kernel::EpilogueOpInterface op,
                                         Value dst, int64_t channels) {
  ShapedType type = typeOf(dst);
  int64_t words = type.getShape().back(), planes = planesOf(channels, words);
  if (!type.getElementType().isInteger(32) || planes == 0)
    return op->emitOpError("expects dst of i32 with ")
           << signWords(channels) << " or " << pixelWords(channels)
           << " words for dst_signs = " << channels << ", but got " << type;
  for (Value operand : op.getEpilogueOperands()) {
    ArrayRef<int64_t> shape = typeOf(operand).getShape();
    bool isPerChannel =
        int64_t(shape.size()) == type.getRank() &&
        llvm::all_of(shape.drop_back(),
                     [](int64_t size) { return size == 1; }) &&
        (shape.back() == 1 || shape.back() == channels);
    if (!isPerChannel)
      return op->emitOpError("expects epilogue operands of one element or ")
             << channels << ", but got " << operand.getType();
  }
  return failure(failed(verifyArguments(op)) ||
                 failed(verifyYield(op, planes,
                                    IntegerType::get(op->getContext(), 1))));
}
