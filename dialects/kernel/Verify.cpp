//===- Verify.cpp - effects and verifiers of kernel ops -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Verify.h"

using namespace mlir;
using namespace ingot;

void kernel::collectEffects(DestinationStyleOpInterface op, Effects &effects,
                            bool readsDestination) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isDestination = op.isDpsInit(&operand);
    if (!isDestination || readsDestination)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (isDestination)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

ShapedType kernel::typeOf(Value value) {
  return cast<ShapedType>(value.getType());
}

bool kernel::fits(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

LogicalResult kernel::expectSize(Operation *op, const Twine &what, int64_t want,
                                 int64_t got) {
  if (fits(want, got))
    return success();
  return op->emitOpError("expects ")
         << what << " of size " << want << ", but got " << got;
}

LogicalResult kernel::expectRank(Operation *op, StringRef what, Value value,
                                 int64_t rank) {
  if (typeOf(value).getRank() == rank)
    return success();
  return op->emitOpError("expects ")
         << what << " of rank " << rank << ", but got "
         << typeOf(value).getRank();
}

LogicalResult kernel::expectCount(Operation *op, StringRef what,
                                  ArrayRef<int64_t> values, int64_t count) {
  if (int64_t(values.size()) == count)
    return success();
  return op->emitOpError("expects ")
         << count << " " << what << ", but got " << values.size();
}

LogicalResult kernel::expectKnown(Operation *op, StringRef what,
                                  ArrayRef<int64_t> sizes) {
  if (!ShapedType::isDynamicShape(sizes))
    return success();
  return op->emitOpError("expects ") << what << " of known size";
}

LogicalResult kernel::expectFloats(Operation *op, const Twine &what,
                                   Value value, ArrayRef<int64_t> shape) {
  ShapedType type = typeOf(value);
  if (!type.getElementType().isF32())
    return op->emitOpError("expects ")
           << what << " of f32, but got " << type.getElementType();
  if (failed(expectRank(op, what.str(), value, int64_t(shape.size()))))
    return failure();
  for (auto [want, got] : llvm::zip_equal(shape, type.getShape()))
    if (failed(expectSize(op, "a dimension of " + what, want, got)))
      return failure();
  return success();
}

LogicalResult kernel::verifyDst(Operation *op, Value dst) {
  bool isTensor = isa<RankedTensorType>(dst.getType());
  if (isTensor != (op->getNumResults() == 1))
    return op->emitOpError(isTensor
                               ? "expects a result for a tensor destination"
                               : "expects no result for a memref");
  if (isTensor && op->getResult(0).getType() != dst.getType())
    return op->emitOpError("expects a result of type ")
           << dst.getType() << ", but got " << op->getResult(0).getType();
  return success();
}

LogicalResult kernel::verifyBroadcast(Operation *op, StringRef what,
                                      ValueRange operands, Value dst) {
  ShapedType type = typeOf(dst);
  for (Value operand : operands) {
    ShapedType other = typeOf(operand);
    bool matches = other.getRank() == type.getRank();
    for (int64_t i = 0; matches && i < type.getRank(); ++i)
      matches = other.getDimSize(i) == 1 ||
                fits(other.getDimSize(i), type.getDimSize(i));
    if (!matches)
      return op->emitOpError("cannot broadcast ")
             << what << " operand " << other << " to " << type;
  }
  return success();
}

void kernel::collectLaunchEffects(Operation *op, int64_t writes,
                                  Effects &effects) {
  SmallVector<OpOperand *> buffers;
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      buffers.push_back(&operand);
  for (auto [i, operand] : llvm::enumerate(buffers)) {
    effects.emplace_back(MemoryEffects::Read::get(), operand);
    if (int64_t(i) >= int64_t(buffers.size()) - writes)
      effects.emplace_back(MemoryEffects::Write::get(), operand);
  }
}

LogicalResult kernel::verifyLaunch(Operation *op, ValueRange arguments,
                                   TypeRange parameters, int64_t writes) {
  if (parameters.size() != arguments.size())
    return op->emitOpError("expects a kernel that takes ")
           << arguments.size() << " memrefs";
  for (auto [argument, type] : llvm::zip_equal(arguments, parameters)) {
    auto given = cast<MemRefType>(argument.getType());
    auto taken = dyn_cast<MemRefType>(type);
    SmallVector<int64_t> strides, takenStrides;
    int64_t offset;
    if (!taken || taken.getShape() != given.getShape() ||
        taken.getElementType() != given.getElementType() ||
        failed(given.getStridesAndOffset(strides, offset)) ||
        failed(taken.getStridesAndOffset(takenStrides, offset)) ||
        strides != takenStrides)
      return op->emitOpError("passes ") << given << " to a parameter " << type;
  }
  if (writes < 0 || writes > int64_t(arguments.size()))
    return op->emitOpError("expects at most ")
           << arguments.size() << " written operands, but got " << writes;
  return success();
}
