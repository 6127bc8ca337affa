//===- CpuAttention.cpp - verifier of attention ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

LogicalResult AttentionBytesAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, bool, bool, bool, int64_t,
    int64_t, int64_t, FloatAttr productScale, DenseF32ArrayAttr productRounding,
    DenseF32ArrayAttr scoreRounding, DenseF32ArrayAttr maskedRounding,
    FloatAttr pScale, int64_t pMost, FloatAttr resultScale) {
  for (FloatAttr scale : {productScale, pScale, resultScale})
    if (!(scale.getValueAsDouble() > 0))
      return emitError() << "expects scales above 0, but got "
                         << scale.getValueAsDouble();
  for (DenseF32ArrayAttr rounding :
       {productRounding, scoreRounding, maskedRounding})
    if (rounding && (rounding.size() != 3 || !(rounding[0] > 0) ||
                     !(rounding[1] < rounding[2])))
      return emitError() << "expects a rounding of a scale above 0 and two "
                            "ordered bounds, but got "
                         << rounding;
  if (pMost < 1 || pMost > 255)
    return emitError() << "expects p_most from 1 to 255, but got " << pMost;
  return success();
}

LogicalResult AttentionOp::verify() {
  struct HeadOperand {
    StringRef name;
    Value value;
  };
  SmallVector<HeadOperand> parts = {{"src", getSrc()},
                                    {"keys", getKeys()},
                                    {"values", getValues()},
                                    {"dst", getDst()}};
  if (Value mask = getMask())
    parts.push_back({"mask", mask});
  for (const HeadOperand &part : parts) {
    ShapedType type = typeOf(part.value);
    if (failed(expectRank(*this, part.name, part.value, 4)))
      return failure();
    bool isByte = getBytes() && part.name != "mask";
    // The destination may have any type that the epilogue yields.
    if (part.value != getDst() &&
        (isByte ? !signless(type.getElementType()).isInteger(8)
                : !type.getElementType().isF32()))
      return emitOpError("expects ")
             << part.name << " of " << (isByte ? "i8" : "f32") << ", but got "
             << type.getElementType();
  }
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape();
  ArrayRef<int64_t> values = typeOf(getValues()).getShape();
  int64_t keys = values[1];
  if (failed(expectKnown(*this, "heads of src", src.drop_front(2))) ||
      failed(expectKnown(*this, "heads of values", values.drop_front(2))))
    return failure();
  auto expectShape = [&](StringRef name, Value value, ArrayRef<int64_t> want) {
    for (auto [i, sizes] :
         llvm::enumerate(llvm::zip_equal(want, typeOf(value).getShape())))
      if (failed(expectSize(*this, name + " dimension " + Twine(i),
                            std::get<0>(sizes), std::get<1>(sizes))))
        return failure();
    return success();
  };
  if (failed(expectShape("keys", getKeys(), {src[0], keys, src[2], src[3]})) ||
      failed(expectShape("values", getValues(),
                         {src[0], keys, src[2], values[3]})) ||
      failed(expectShape("dst", getDst(), {src[0], src[1], src[2], values[3]})))
    return failure();
  for (int64_t size : {src[3], values[3]})
    if (size % 16 != 0 || size < 16 || size > kMaxHeadSize)
      return emitOpError("expects heads of a multiple of 16 elements, at most ")
             << kMaxHeadSize << ", but got " << size;
  if (keys == 0)
    return emitOpError("expects at least 1 key, but got 0");
  if (Value mask = getMask()) {
    int64_t want[] = {src[0], src[2], keys, src[1]};
    for (auto [i, size] : llvm::enumerate(typeOf(mask).getShape()))
      if (size != want[i] && (size != 1 || i == 2))
        return emitOpError("expects mask dimension ")
               << i << " of " << want[i] << (i == 2 ? "" : " or 1")
               << ", but got " << size;
  }
  if (getBytes() && getSafe())
    return emitOpError("expects either bytes or safe, but got both");
  if (failed(verifyDst(*this, getDst())))
    return failure();
  return verifyEpilogue(*this, getDst());
}
