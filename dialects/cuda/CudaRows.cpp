//===- CudaRows.cpp - rows of elements ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"
#include "dialects/kernel/Verify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

/// Elements that a thread accesses together: bytes in one access of 16.
static constexpr int64_t kMaxVector = 16;

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

LogicalResult
RowScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        int64_t threads, int64_t rows, int64_t vector,
                        int64_t held) {
  for (int64_t size : {threads, rows, vector})
    if (size < 1 || size > kMaxThreads || !llvm::isPowerOf2_64(uint64_t(size)))
      return emitError() << "expects threads, rows and vectors that are powers "
                            "of two, but got "
                         << size;
  const int64_t block = threads * rows;
  if (block < kWarp || block > kMaxThreads)
    return emitError() << "expects " << kWarp << " to " << kMaxThreads
                       << " threads, but got " << block;
  if (vector > kMaxVector)
    return emitError() << "expects vectors of at most " << kMaxVector
                       << " elements, but got " << vector;
  if (held < 0 || held * vector > getMaxHeld(block))
    return emitError() << "expects threads that hold at most "
                       << getMaxHeld(block) << " elements, but got "
                       << held * vector;
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies an op whose rows have `length` elements, in contiguous parts of
/// `part`.
template <typename Op>
static LogicalResult verifyRows(Op op, int64_t length, int64_t part) {
  Type element = getElementTypeOrSelf(op.getSrc());
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return op.emitOpError("expects src of f32, f16 or bf16, but got ")
           << element;
  ArrayRef<int64_t> src = typeOf(op.getSrc()).getShape(),
                    dst = typeOf(op.getDst()).getShape();
  if (src != dst)
    return op.emitOpError("expects dst with the shape of src");
  if (length == 0)
    return op.emitOpError("expects rows with elements");
  if (RowScheduleAttr schedule = op.getScheduleAttr()) {
    if (part % schedule.getVector() != 0)
      return op.emitOpError("expects vectors that divide ")
             << part << " elements, but got " << schedule.getVector();
    const int64_t held =
        schedule.getHeld() * schedule.getVector() * schedule.getThreads();
    if (held != 0 && held < length)
      return op.emitOpError("expects threads that hold a row of ")
             << length << " elements, but got " << held;
  }
  return verifyEpilogue(op, op.getDst());
}

/// Verifies an op along the last dimension.
template <typename Op>
static LogicalResult verifyLast(Op op) {
  ArrayRef<int64_t> shape = typeOf(op.getSrc()).getShape();
  if (shape.empty())
    return op.emitOpError("expects src of rank 1 or more");
  if (failed(expectKnown(op, "a row", shape.take_back())))
    return failure();
  return verifyRows(op, shape.back(), shape.back());
}

LogicalResult SoftmaxOp::verify() { return verifyLast(*this); }
LogicalResult RowNormOp::verify() { return verifyLast(*this); }

LogicalResult GroupNormOp::verify() {
  ArrayRef<int64_t> shape = typeOf(getSrc()).getShape();
  if (failed(expectRank(*this, "src", getSrc(), 3)) ||
      failed(expectKnown(*this, "its operands", shape)))
    return failure();
  const int64_t groups = int64_t(getGroups());
  if (groups < 1 || shape.back() % groups != 0)
    return emitOpError("expects groups that divide ")
           << shape.back() << " channels, but got " << groups;
  return verifyRows(*this, shape[1] * (shape[2] / groups), shape[2] / groups);
}

//===----------------------------------------------------------------------===//
// Effects and work
//===----------------------------------------------------------------------===//

void SoftmaxOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void RowNormOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void GroupNormOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}

KernelClass SoftmaxOp::getKernelClass() { return KernelClass::softmax; }
KernelClass RowNormOp::getKernelClass() { return KernelClass::norm; }
KernelClass GroupNormOp::getKernelClass() { return KernelClass::norm; }

StringRef SoftmaxOp::getKernelKind() { return "softmax"; }
StringRef RowNormOp::getKernelKind() { return "normalization"; }
StringRef GroupNormOp::getKernelKind() { return "normalization"; }

Work SoftmaxOp::getWork() { return workPerElement(getSrc(), {kSoftmaxFlops}); }
Work RowNormOp::getWork() { return workPerElement(getSrc(), {kNormFlops}); }
Work GroupNormOp::getWork() { return workPerElement(getSrc(), {kNormFlops}); }
