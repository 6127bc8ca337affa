//===- Rows.cpp - rows of elements, as kernels see them -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/rows/Rows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

Rows::Rows(kernel::EpilogueOpInterface op)
    : op(op), src(StridedLayout::of(op->getOperand(0))),
      dst(StridedLayout::of(dstOf(op))) {
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
  if (auto norm = dyn_cast<GroupNormOp>(*op))
    groups = int64_t(norm.getGroups());
}

RowScheduleAttr Rows::schedule() const {
  return op->getAttrOfType<RowScheduleAttr>("schedule");
}

Team Rows::team() const {
  return {schedule().getThreads(), schedule().getBlockThreads()};
}

int64_t Rows::numReductions() const {
  auto norm = dyn_cast<RowNormOp>(*op);
  return norm && norm.getRms() ? 1 : 2;
}

void Rows::resolve(Code &code) {
  src.resolve(code, op->getOperand(0));
  dst.resolve(code, dstOf(op));
  cuda::resolve(code, operands, op.getEpilogueOperands());
}

Number Rows::rows(Code &code) const {
  if (groups)
    return src.sizes.front().known() * groups;
  return code.product(ArrayRef(src.sizes).drop_back());
}

int64_t Rows::usualRows() const {
  return groups ? src.sizes.front().known() * groups
                : usualProduct(ArrayRef(src.sizes).drop_back());
}

int64_t Rows::part() const {
  return src.sizes.back().known() / std::max<int64_t>(groups, 1);
}

int64_t Rows::length() const {
  return groups ? src.sizes[1].known() * part() : part();
}

SmallVector<Value> Rows::indicesOf(Code &code, Value row, Value number) const {
  const int64_t vector = schedule().getVector();
  if (!groups) {
    SmallVector<Value> indices =
        code.delinearize(row, ArrayRef(src.sizes).drop_back());
    indices.push_back(code.multiply(number, vector));
    return indices;
  }
  const int64_t vectors = part() / vector;
  Value channel =
      code.add(code.multiply(code.remainder(row, groups), part()),
               code.multiply(code.remainder(number, vectors), vector));
  return {code.divide(row, groups), code.divide(number, vectors), channel};
}
