//===- CpuVerify.cpp - what verifiers of cpu ops share --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"

#include "dialects/cpu/ByteFours.h"

using namespace mlir;
using namespace ingot::cpu;

Type checks::signless(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer ? IntegerType::get(type.getContext(), integer.getWidth())
                 : type;
}

LogicalResult checks::verifyFours(DepthwiseConvOp op) {
  if (!op.getFours())
    return success();
  Type src = typeOf(op.getSrc()).getElementType();
  if (!signless(src).isInteger(8) || op.groupSize() != 1)
    return op.emitOpError("expects fours for single channels of ui8, but got "
                          "groups of ")
           << op.groupSize() << " of " << src;
  ArrayRef<int64_t> taps = typeOf(op.getWeights()).getShape();
  int64_t rows = 1;
  for (int64_t size : taps.drop_back(2))
    rows *= size;
  SmallVector<int64_t> want = {ByteFours::groupsOf(rows), taps[taps.size() - 2],
                               ByteFours::placesOf(taps.back()),
                               ByteFours::kTaps};
  ShapedType type = typeOf(op.getFours());
  if (type.getElementType().isInteger(8) && type.getShape() == ArrayRef(want))
    return success();
  return op.emitOpError("expects fours of i8 with sizes of ")
         << want << ", but got " << type;
}

LogicalResult checks::verifyEpilogue(EpilogueOpInterface op, Value dst) {
  ShapedType type = typeOf(dst);
  OperandRange operands = op.getEpilogueOperands();
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != operands.size() + 1)
    return op->emitOpError("expects ")
           << operands.size() + 1 << " epilogue arguments, but got "
           << body.getNumArguments();
  if (failed(verifyBroadcast(op, "epilogue", operands, dst)))
    return failure();
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body.getArguments().drop_front())) {
    Type element = signless(typeOf(operand).getElementType());
    if (element != argument.getType())
      return op->emitOpError("expects an epilogue argument of type ")
             << element << ", but got " << argument.getType();
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getValues().size() != 1)
    return op->emitOpError("expects an epilogue that yields 1 value, but got ")
           << yield.getValues().size();
  Type stored = signless(type.getElementType());
  if (yield.getValues()[0].getType() != stored)
    return op->emitOpError("expects an epilogue that yields ")
           << stored << ", but got "
           << yield.getValues()[0].getType();
  return success();
}
