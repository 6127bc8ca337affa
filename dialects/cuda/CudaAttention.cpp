//===- CudaAttention.cpp - attention --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"
#include "dialects/kernel/Verify.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

/// Bytes of the widest access, and of the gap behind a row in shared memory.
static constexpr int64_t kChunkBytes = 16;

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

int64_t AttentionScheduleAttr::getThreads() const {
  return getRows() / kWarpRows * kWarp;
}

int64_t AttentionScheduleAttr::getRowBytes(int64_t depth, Type element) {
  // Rows are multiples of two chunks; an odd distance changes the banks.
  return depth * element.getIntOrFloatBitWidth() / 8 + kChunkBytes;
}

int64_t AttentionScheduleAttr::getSharedBytes(int64_t depth, int64_t width,
                                              Type element) const {
  const int64_t src = getRowBytes(depth, element),
                values = getRowBytes(width, element);
  int64_t bytes = getRows() * src + getStages() * getKeys() * (src + values);
  // Multiply-adds read the probabilities from shared memory.
  if (element.isF32())
    bytes += getRows() * getRowBytes(getKeys(), element);
  return bytes;
}

LogicalResult
AttentionScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t rows, int64_t keys, int64_t stages,
                              int64_t srcBytes, int64_t keysBytes,
                              int64_t valuesBytes, int64_t stored) {
  auto isOf = [](ArrayRef<int64_t> allowed, int64_t size) {
    return llvm::is_contained(allowed, size);
  };
  if (!isOf({16, 32, 64, 128}, rows) || !isOf({16, 32, 64}, keys))
    return emitError() << "expects 16, 32, 64 or 128 rows, and 16, 32 or 64 "
                          "keys, but got "
                       << rows << " and " << keys;
  if (stages < 2 || stages > 4)
    return emitError() << "expects 2 to 4 stages, but got " << stages;
  for (int64_t bytes : {srcBytes, keysBytes, valuesBytes})
    if (!isOf({2, 4, 8, 16}, bytes))
      return emitError() << "expects copies of 2, 4, 8 or 16 bytes, but got "
                         << bytes;
  if (stored != 1 && stored != 2)
    return emitError() << "expects 1 or 2 elements stored together, but got "
                       << stored;
  return success();
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::verify() {
  Type element = getElementTypeOrSelf(getSrc());
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return emitOpError("expects factors of f32, f16 or bf16, but got ")
           << element;
  const std::pair<StringRef, Value> factors[] = {
      {"src", getSrc()}, {"keys", getKeys()}, {"values", getValues()}};
  for (auto [name, value] : factors) {
    if (failed(expectRank(*this, name, value, 4)))
      return failure();
    if (getElementTypeOrSelf(value) != element)
      return emitOpError("expects ")
             << name << " of " << element << ", but got " << value.getType();
  }
  if (failed(expectRank(*this, "dst", getDst(), 4)))
    return failure();
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape(),
                    values = typeOf(getValues()).getShape();
  auto expectShape = [&](StringRef name, Value value, ArrayRef<int64_t> want) {
    ArrayRef<int64_t> got = typeOf(value).getShape();
    if (failed(expectKnown(*this, "heads", got.take_back(2))))
      return failure();
    for (size_t i = 0; i < want.size(); ++i)
      if (failed(expectSize(*this, name + " dimension " + Twine(i), want[i],
                            got[i])))
        return failure();
    return success();
  };
  const int64_t keys = values[1];
  if (failed(expectShape("src", getSrc(), src)) ||
      failed(expectShape("keys", getKeys(), {src[0], keys, src[2], src[3]})) ||
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
    if (failed(expectRank(*this, "mask", mask, 4)))
      return failure();
    if (!getElementTypeOrSelf(mask).isF32())
      return emitOpError("expects a mask of f32, but got ") << mask.getType();
    const int64_t want[] = {src[0], src[2], keys, src[1]};
    for (auto [i, size] : llvm::enumerate(typeOf(mask).getShape()))
      if (!fits(size, want[i]) && (size != 1 || i == 2))
        return emitOpError("expects mask dimension ")
               << i << " of " << want[i] << (i == 2 ? "" : " or 1")
               << ", but got " << size;
  }
  if (AttentionScheduleAttr schedule = getScheduleAttr()) {
    const int64_t bytes = schedule.getSharedBytes(src[3], values[3], element);
    if (bytes > kMaxSharedBytes)
      return emitOpError("expects at most ")
             << kMaxSharedBytes << " bytes of shared memory, but needs "
             << bytes;
  }
  return verifyEpilogue(*this, getDst());
}

//===----------------------------------------------------------------------===//
// Effects and work
//===----------------------------------------------------------------------===//

void AttentionOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}

StringRef AttentionOp::getKernelKind() { return "attention"; }

Work AttentionOp::getWork() {
  // Counts scores, softmax and result.
  return workPerElement(
      getSrc(),
      {Factor(getKeys(), 1), 2 * typeOf(getKeys()).getShape().back() +
                                 kSoftmaxFlops +
                                 2 * typeOf(getValues()).getShape().back()},
      /*drop=*/1);
}
