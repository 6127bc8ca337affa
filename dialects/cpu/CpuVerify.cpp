//===- CpuVerify.cpp - what effects and verifiers of cpu ops share --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"

using namespace mlir;
using namespace ingot::cpu;

void checks::collectEffects(DestinationStyleOpInterface op, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

ShapedType checks::typeOf(Value value) {
  return cast<ShapedType>(value.getType());
}

bool checks::fits(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

LogicalResult checks::expectSize(Operation *op, const Twine &what, int64_t want,
                                int64_t got) {
  if (fits(want, got))
    return success();
  return op->emitOpError("expects ")
         << what << " of size " << want << ", but got " << got;
}

LogicalResult checks::expectRank(Operation *op, StringRef what, Value value,
                                int64_t rank) {
  if (typeOf(value).getRank() == rank)
    return success();
  return op->emitOpError("expects ")
         << what << " of rank " << rank << ", but got "
         << typeOf(value).getRank();
}

LogicalResult checks::expectCount(Operation *op, StringRef what,
                                 ArrayRef<int64_t> values, int64_t count) {
  if (int64_t(values.size()) == count)
    return success();
  return op->emitOpError("expects ")
         << count << " " << what << ", but got " << values.size();
}

LogicalResult checks::verifyDst(Operation *op, Value dst) {
  bool isTensor = isa<RankedTensorType>(dst.getType());
  if (isTensor != (op->getNumResults() == 1))
    return op->emitOpError(isTensor ? "expects a result for a tensor destination"
                                    : "expects no result for a memref");
  if (isTensor && op->getResult(0).getType() != dst.getType())
    return op->emitOpError("expects a result of type ")
           << dst.getType() << ", but got " << op->getResult(0).getType();
  return success();
}

LogicalResult checks::verifyEpilogue(EpilogueOpInterface op, Value dst) {
  ShapedType type = typeOf(dst);
  OperandRange operands = op.getEpilogueOperands();
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != operands.size() + 1)
    return op->emitOpError("expects ")
           << operands.size() + 1 << " epilogue arguments, but got "
           << body.getNumArguments();
  for (auto [operand, argument] :
       llvm::zip_equal(operands, body.getArguments().drop_front())) {
    ShapedType other = typeOf(operand);
    bool matches = other.getRank() == type.getRank();
    for (int64_t i = 0; matches && i < type.getRank(); ++i)
      matches = other.getDimSize(i) == 1 ||
                fits(other.getDimSize(i), type.getDimSize(i));
    if (!matches)
      return op->emitOpError("cannot broadcast epilogue operand ")
             << other << " to " << type;
    if (other.getElementType() != argument.getType())
      return op->emitOpError("expects an epilogue argument of type ")
             << other.getElementType() << ", but got " << argument.getType();
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  if (yield.getValues().size() != 1)
    return op->emitOpError("expects an epilogue that yields 1 value, but got ")
           << yield.getValues().size();
  if (yield.getValues()[0].getType() != type.getElementType())
    return op->emitOpError("expects an epilogue that yields ")
           << type.getElementType() << ", but got "
           << yield.getValues()[0].getType();
  return success();
}
