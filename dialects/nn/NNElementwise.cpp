//===- NNElementwise.cpp - types of elementwise ops -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"
#include "dialects/nn/Scalars.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot::nn;

std::optional<SmallVector<int64_t>>
ingot::nn::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  size_t rank = 0;
  for (ArrayRef<int64_t> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<int64_t> result(rank, 1);
  for (ArrayRef<int64_t> shape : shapes) {
    for (auto [i, size] : llvm::enumerate(shape)) {
      int64_t &out = result[rank - shape.size() + i];
      if (size == 1 || size == out)
        continue;
      if (out == 1 || (ShapedType::isDynamic(out) && size != 1))
        out = size;
      else if (!ShapedType::isDynamic(size))
        return std::nullopt;
    }
  }
  return result;
}

/// Infers the broadcast of `operands`, with `element` as the element type.
static LogicalResult inferBroadcast(SizeRules &rules, ValueRange operands,
                                    Type elementType,
                                    SmallVectorImpl<SizedType> &results) {
  SmallVector<Size> sizes;
  for (Value operand : operands) {
    FailureOr<SmallVector<Size>> both =
        rules.broadcast(sizes, rules.sizesOf(operand),
                        "operand shapes do not broadcast");
    if (failed(both))
      return failure();
    sizes = *both;
  }
  results.push_back({sizes, elementType});
  return success();
}

static LogicalResult checkSameElementType(std::optional<Location> loc,
                                          Value a, Value b) {
  if (getElementTypeOrSelf(a) == getElementTypeOrSelf(b))
    return success();
  return emitOptionalError(loc, "operands have different element types: ",
                           getElementTypeOrSelf(a), " and ",
                           getElementTypeOrSelf(b));
}

static Type boolType(Value value) {
  return IntegerType::get(value.getContext(), 1);
}

#define INFER_UNARY(OP)                                                        \
  INFER(OP) {                                                                  \
    ValueRange operands = op.getOperands();                                    \
    return inferBroadcast(rules, operands, getElementTypeOrSelf(operands[0]),  \
                          results);                                            \
  }

#define INFER_BINARY(OP)                                                       \
  INFER(OP) {                                                                  \
    ValueRange operands = op.getOperands();                                    \
    if (failed(checkSameElementType(loc, operands[0], operands[1])))           \
      return failure();                                                        \
    return inferBroadcast(rules, operands, getElementTypeOrSelf(operands[0]),  \
                          results);                                            \
  }

#define INFER_COMPARE(OP)                                                      \
  INFER(OP) {                                                                  \
    ValueRange operands = op.getOperands();                                    \
    if (failed(checkSameElementType(loc, operands[0], operands[1])))           \
      return failure();                                                        \
    return inferBroadcast(rules, operands, boolType(operands[0]), results);    \
  }

#define INFER_PREDICATE(OP)                                                    \
  INFER(OP) {                                                                  \
    ValueRange operands = op.getOperands();                                    \
    return inferBroadcast(rules, operands, boolType(operands[0]), results);    \
  }

INFER_UNARY(AbsOp)
INFER_UNARY(NegOp)
INFER_UNARY(SignOp)
INFER_UNARY(CeilOp)
INFER_UNARY(FloorOp)
INFER_UNARY(RoundOp)
INFER_UNARY(SqrtOp)
INFER_UNARY(ExpOp)
INFER_UNARY(LogOp)
INFER_UNARY(SinOp)
INFER_UNARY(CosOp)
INFER_UNARY(TanOp)
INFER_UNARY(AsinOp)
INFER_UNARY(AcosOp)
INFER_UNARY(AtanOp)
INFER_UNARY(SinhOp)
INFER_UNARY(CoshOp)
INFER_UNARY(TanhOp)
INFER_UNARY(AsinhOp)
INFER_UNARY(AcoshOp)
INFER_UNARY(AtanhOp)
INFER_UNARY(ErfOp)
INFER_UNARY(SigmoidOp)
INFER_UNARY(ReluOp)
INFER_UNARY(ReciprocalOp)
INFER_UNARY(NotOp)
INFER_UNARY(SoftplusOp)
INFER_UNARY(GeluOp)
INFER_UNARY(EluOp)
INFER_UNARY(LeakyReluOp)
INFER_UNARY(HardSigmoidOp)
INFER_UNARY(HardSwishOp)
INFER_UNARY(SwishOp)
INFER_UNARY(ClampOp)
INFER_PREDICATE(IsNaNOp)
INFER_PREDICATE(IsInfOp)
INFER_BINARY(AddOp)
INFER_BINARY(SubOp)
INFER_BINARY(MulOp)
INFER_BINARY(DivOp)
INFER_BINARY(MaxOp)
INFER_BINARY(MinOp)
INFER_BINARY(ModOp)
INFER_BINARY(AndOp)
INFER_BINARY(OrOp)
INFER_BINARY(XorOp)
INFER_BINARY(ShiftLeftOp)
INFER_BINARY(ShiftRightOp)
INFER_BINARY(PReluOp)
INFER_COMPARE(EqualOp)
INFER_COMPARE(LessOp)
INFER_COMPARE(LessOrEqualOp)
INFER_COMPARE(GreaterOp)
INFER_COMPARE(GreaterOrEqualOp)

// In ONNX the exponent of Pow may have a type other than that of the base.
INFER_UNARY(PowOp)

INFER(SelectOp) {
  if (failed(checkSameElementType(loc, op.getA(), op.getB())))
    return failure();
  return inferBroadcast(rules, op.getOperands(),
                        getElementTypeOrSelf(op.getA()), results);
}

INFER(RequantizeOp) {
  return inferBroadcast(rules, op.getOperands(),
                        getElementTypeOrSelf(op.getZeroPoint()), results);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult CastOp::inferSizes(SizeRules &rules,
                                 SmallVectorImpl<SizedType> &results) {
  results.push_back(
      {rules.sizesOf(getX()), getElementTypeOrSelf(getY().getType())});
  return success();
}

LogicalResult CastOp::verify() {
  if (failed(verifyCompatibleShape(getX().getType(), getY().getType())))
    return emitOpError("expects operand and result of one shape");
  return success();
}

std::pair<int64_t, int64_t> RequantizeOp::getBounds() {
  const bool isUnsigned =
      nn::isUnsigned(getElementTypeOrSelf(getY().getType()));
  const int64_t least = isUnsigned ? 0 : -128;
  return {getLeast().value_or(least), getMost().value_or(least + 255)};
}

LogicalResult RequantizeOp::verify() {
  auto elementOf = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  Type zero = elementOf(getZeroPoint()), x = elementOf(getX());
  if (!(x.isSignlessInteger(32) || (getFitsF32() && x.isF32())) ||
      !elementOf(getScale()).isF32() || !isByte(zero) ||
      elementOf(getY()) != zero)
    return emitOpError("expects sums of i32, or of f32 that fit it, scales of "
                       "f32, and bytes of one type, but got ")
           << getX().getType() << ", " << getScale().getType() << ", "
           << getZeroPoint().getType() << " and " << getY().getType();
  const auto [least, most] = getBounds();
  const int64_t first = isUnsigned(zero) ? 0 : -128;
  if (least > most || least < first || most > first + 255)
    return emitOpError("expects bounds within its bytes, but got ")
           << least << " and " << most;
  return success();
}
