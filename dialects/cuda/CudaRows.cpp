//===- CudaRows.cpp - rows of elements ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"

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

LogicalResult cuda::verifyRows(EpilogueOpInterface op, const RowSizes &sizes) {
  Type element = getElementTypeOrSelf(op->getOperand(0));
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return op->emitOpError("expects src of f32, f16 or bf16, but got ")
           << element;
  if (sizes.length == 0)
    return op->emitOpError("expects rows with elements");
  if (auto schedule = op->getAttrOfType<RowScheduleAttr>("schedule")) {
    if (sizes.part % schedule.getVector() != 0)
      return op->emitOpError("expects vectors that divide ")
             << sizes.part << " elements, but got " << schedule.getVector();
    const int64_t held = schedule.getHeld() * schedule.getThreads() *
                         (sizes.areColumns ? 1 : schedule.getVector());
    if (held != 0 && ShapedType::isDynamic(sizes.length))
      return op->emitOpError("expects threads that hold no row of open length");
    if (held != 0 && held < sizes.length)
      return op->emitOpError("expects threads that hold a row of ")
             << sizes.length << " elements, but got " << held;
  }
  auto destination = cast<DestinationStyleOpInterface>(*op);
  return verifyEpilogue(op, destination.getDpsInitOperand(0)->get());
}

/// Verifies that dst has the shape of src.
template <typename Op>
static LogicalResult verifyShape(Op op) {
  if (typeOf(op.getSrc()).getShape() != typeOf(op.getDst()).getShape())
    return op.emitOpError("expects dst with the shape of src");
  return success();
}

/// Verifies an op along the last dimension.
template <typename Op>
static LogicalResult verifyLast(Op op) {
  ArrayRef<int64_t> shape = typeOf(op.getSrc()).getShape();
  if (shape.empty())
    return op.emitOpError("expects src of rank 1 or more");
  if (failed(expectKnown(op, "a row", shape.take_back())) ||
      failed(verifyShape(op)))
    return failure();
  return verifyRows(op, {shape.back(), shape.back()});
}

LogicalResult SoftmaxOp::verify() {
  if (!getColumns())
    return verifyLast(*this);
  ArrayRef<int64_t> shape = typeOf(getSrc()).getShape();
  if (shape.size() < 2)
    return emitOpError("expects src of rank 2 or more");
  if (failed(expectKnown(*this, "columns", shape.take_back(2))) ||
      failed(verifyShape(*this)))
    return failure();
  return verifyRows(*this, {shape[shape.size() - 2], shape.back(),
                            /*areColumns=*/true});
}

LogicalResult RowNormOp::verify() { return verifyLast(*this); }

LogicalResult cuda::verifyGroups(EpilogueOpInterface op, int64_t groups) {
  Value src = op->getOperand(0);
  ArrayRef<int64_t> shape = typeOf(src).getShape();
  if (failed(expectRank(op, "src", src, 3)) ||
      failed(expectKnown(op, "its operands", shape)))
    return failure();
  if (groups < 1 || shape.back() % groups != 0)
    return op->emitOpError("expects groups that divide ")
           << shape.back() << " channels, but got " << groups;
  if (groups == shape.back())
    return verifyRows(op, {shape[1], shape[2], /*areColumns=*/true});
  const int64_t part = shape[2] / groups;
  return verifyRows(op, {shape[1] * part, part});
}

LogicalResult GroupNormOp::verify() {
  if (failed(verifyShape(*this)))
    return failure();
  return verifyGroups(*this, int64_t(getGroups()));
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
