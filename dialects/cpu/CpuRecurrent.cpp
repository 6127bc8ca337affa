//===- CpuRecurrent.cpp - verifier and work of recurrences ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/kernel/RecurrentVerify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

void RecurrentOp::getEffects(Effects &effects) {
  collectEffects(*this, effects, /*readsDestination=*/true);
}

int64_t RecurrentOp::sumColumns(int64_t count) {
  int64_t columns = 0;
  for (int64_t i = 0; i < count; ++i) {
    PackedWeights weights(weightsOf(0, i));
    columns += weights.outer.front() * weights.width;
  }
  return columns;
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

static LogicalResult verifyWeights(RecurrentOp op) {
  const int64_t open = ShapedType::kDynamic, hidden = op.hidden();
  for (int64_t d = 0; d < op.numDirections(); ++d)
    for (auto [i, gates] : llvm::enumerate(op.getGates())) {
      Value weights = op.weightsOf(d, i);
      if (failed(expectFloats(op, "weights", weights, {open, hidden, open})) ||
          failed(expectKnown(op, "weights", typeOf(weights).getShape())))
        return failure();
      PackedWeights packed(weights);
      if (packed.width != 16 && packed.width != 32 && packed.width != 64)
        return op.emitOpError("expects panels of 16, 32 or 64 columns, but "
                              "got ")
               << packed.width;
      if (failed(expectSize(op, "weight panels",
                            llvm::divideCeil(gates * hidden, packed.width),
                            packed.outer.front())) ||
          failed(expectSize(op, "panels of all directions",
                            PackedWeights(op.weightsOf(0, i)).width,
                            packed.width)))
        return failure();
    }
  return success();
}

static LogicalResult verifyRoom(RecurrentOp op) {
  int64_t open = ShapedType::kDynamic;
  int64_t batch = typeOf(op.state(0, 0)).getDimSize(0);
  for (int64_t d = 0; d < op.numDirections(); ++d) {
    int64_t room =
        op.sumColumns(op.getGates().size()) + (op.hasReset() ? op.hidden() : 0);
    if (failed(expectFloats(op, "room for sums", op.room(d), {batch, open})))
      return failure();
    int64_t given = typeOf(op.room(d)).getDimSize(1);
    if (ShapedType::isDynamic(given) || given < room)
      return op.emitOpError("expects room for ")
             << room << " sums of a sequence, but got " << typeOf(op.room(d));
  }
  return success();
}

static LogicalResult verifyLengths(RecurrentOp op) {
  int64_t batch = typeOf(op.state(0, 0)).getDimSize(0);
  Value lengths = op.getLengths();
  if (!lengths)
    return success();
  if (!typeOf(lengths).getElementType().isInteger(64))
    return op.emitOpError("expects lengths of i64, but got ")
           << typeOf(lengths).getElementType();
  return failure(failed(expectRank(op, "lengths", lengths, 2)) ||
                 failed(expectSize(op, "lengths", batch,
                                   typeOf(lengths).getDimSize(0))) ||
                 failed(expectSize(op, "lengths of a sequence", 1,
                                   typeOf(lengths).getDimSize(1))));
}

LogicalResult RecurrentOp::verify() {
  if (failed(verifyRecurrentCounts(*this)) ||
      failed(verifyRecurrentSizes(*this)) || failed(verifyWeights(*this)) ||
      failed(verifyRoom(*this)) || failed(verifyLengths(*this)))
    return failure();
  return verifyRecurrentRegions<YieldOp>(*this, bool(getLengths()));
}
