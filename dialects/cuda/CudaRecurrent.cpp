//===- CudaRecurrent.cpp - recurrences over time --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/RecurrentVerify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

LogicalResult
RecurrentScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t threads, int64_t units, int64_t batch) {
  for (int64_t size : {threads, units, batch})
    if (size < 1 || !llvm::isPowerOf2_64(uint64_t(size)))
      return emitError() << "expects powers of two, but got " << size;
  if (threads > kWarp)
    return emitError() << "expects at most " << kWarp
                       << " threads of a unit, but got " << threads;
  if (threads * units < kWarp || threads * units > kMaxThreads)
    return emitError() << "expects a block of " << kWarp << " to "
                       << kMaxThreads << " threads, but got "
                       << threads * units;
  if (batch > std::min(threads, kMaxBatch))
    return emitError() << "expects at most " << std::min(threads, kMaxBatch)
                       << " sequences of " << threads << " threads, but got "
                       << batch;
  return success();
}

void RecurrentOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, /*readsDestination=*/true);
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

static LogicalResult verifyWeights(RecurrentOp op) {
  const int64_t hidden = op.hidden();
  Type element = op.getProductType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return op.emitOpError("expects weights of f32, f16 or bf16, but got ")
           << element;
  const int64_t columns = int64_t(llvm::alignTo(
      uint64_t(hidden),
      uint64_t(kAccessBytes * 8 / int64_t(element.getIntOrFloatBitWidth()))));
  for (int64_t d = 0; d < op.numDirections(); ++d)
    for (auto [i, gates] : llvm::enumerate(op.getGates())) {
      ShapedType type = typeOf(op.weightsOf(d, int64_t(i)));
      if (type.getElementType() != element)
        return op.emitOpError("expects weights of one type, but got ")
               << element << " and " << type.getElementType();
      if (type.getShape() != ArrayRef<int64_t>{gates * hidden, columns})
        return op.emitOpError("expects weights with the sizes ")
               << gates * hidden << " and " << columns << ", but got " << type;
    }
  return success();
}

static LogicalResult verifyRoom(RecurrentOp op) {
  const int64_t length = int64_t(llvm::alignTo(
      uint64_t(op.hidden()), uint64_t(RecurrentOp::kRoomElements)));
  const int64_t batch = typeOf(op.state(0, 0)).getDimSize(0);
  for (int64_t d = 0; d < op.numDirections(); ++d) {
    Value room = op.room(d);
    if (failed(expectFloats(op, "room", room,
                            {op.numRoomStates(), batch, length})) ||
        failed(expectKnown(
            op, "room",
            {typeOf(room).getDimSize(0), typeOf(room).getDimSize(2)})))
      return failure();
    if (auto type = dyn_cast<MemRefType>(room.getType());
        type && !type.getLayout().isIdentity())
      return op.emitOpError("expects room without gaps, but got ") << type;
  }
  return success();
}

static LogicalResult verifyMasks(RecurrentOp op) {
  Value masks = op.getMasks();
  if (!masks)
    return success();
  if (!typeOf(masks).getElementType().isInteger(1))
    return op.emitOpError("expects masks of i1, but got ")
           << typeOf(masks).getElementType();
  ShapedType src = typeOf(op.getSrcs()[0]);
  return failure(failed(expectRank(op, "masks", masks, 2)) ||
                 failed(expectSize(op, "steps of masks", src.getDimSize(0),
                                   typeOf(masks).getDimSize(0))) ||
                 failed(expectSize(op, "sequences of masks", src.getDimSize(1),
                                   typeOf(masks).getDimSize(1))));
}

LogicalResult RecurrentOp::verify() {
  if (failed(verifyRecurrentCounts(*this)) ||
      failed(verifyRecurrentSizes(*this)) || failed(verifyWeights(*this)) ||
      failed(verifyRoom(*this)) || failed(verifyMasks(*this)))
    return failure();
  return verifyRecurrentRegions<YieldOp>(*this, bool(getMasks()));
}
