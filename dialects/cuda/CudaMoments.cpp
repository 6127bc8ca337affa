//===- CudaMoments.cpp - norms of groups in two steps ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Verifies the groups of src, and that `moments` has theirs.
template <typename Op>
static LogicalResult verifyMoments(Op op, Value moments) {
  ArrayRef<int64_t> src = typeOf(op.getSrc()).getShape();
  if (failed(verifyGroups(op, int64_t(op.getGroups()))))
    return failure();
  ShapedType type = typeOf(moments);
  const int64_t groups = int64_t(op.getGroups());
  if (!type.getElementType().isF32() ||
      type.getShape() != ArrayRef<int64_t>{src[0], groups, 2})
    return op.emitOpError("expects moments of f32 with the sizes ")
           << src[0] << ", " << groups << " and 2, but got " << type;
  return success();
}

LogicalResult MomentsOp::verify() {
  if (failed(verifyMoments(*this, getDst())))
    return failure();
  Block &body = getEpilogue().front();
  if (body.getNumArguments() != 1 ||
      body.getTerminator()->getOperands() != body.getArguments())
    return emitOpError("expects an epilogue that yields its argument");
  return success();
}

LogicalResult NormalizeOp::verify() {
  if (failed(verifyMoments(*this, getMoments())))
    return failure();
  ArrayRef<int64_t> src = typeOf(getSrc()).getShape();
  if (src != typeOf(getDst()).getShape())
    return emitOpError("expects dst with the shape of src");
  const int64_t parts = int64_t(getParts());
  if (parts < 1 || src[0] % parts != 0)
    return emitOpError("expects parts that divide ")
           << src[0] << " samples, but got " << parts;
  return success();
}

//===----------------------------------------------------------------------===//
// Effects and work
//===----------------------------------------------------------------------===//

void MomentsOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void NormalizeOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}

KernelClass MomentsOp::getKernelClass() { return KernelClass::norm; }
KernelClass NormalizeOp::getKernelClass() { return KernelClass::norm; }

StringRef MomentsOp::getKernelKind() { return "normalization"; }
StringRef NormalizeOp::getKernelKind() { return "normalization"; }

Work MomentsOp::getWork() { return workPerElement(getSrc(), {kNormFlops / 2}); }
Work NormalizeOp::getWork() {
  return workPerElement(getSrc(), {kNormFlops / 2});
}
