//===- Rows.cpp - rows of elements, as kernels see them -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/rows/Rows.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Returns the groups of channels that an op normalizes, if it does.
static std::optional<int64_t> groupsOf(Operation *op) {
  return TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<GroupNormOp, MomentsOp, NormalizeOp>(
          [](auto op) { return int64_t(op.getGroups()); })
      .Default([](Operation *) { return std::nullopt; });
}

Rows::Rows(kernel::EpilogueOpInterface op)
    : op(op), src(StridedLayout::of(op->getOperand(0))),
      dst(StridedLayout::of(dstOf(op))) {
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(StridedLayout::of(operand));
  if (std::optional<int64_t> count = groupsOf(op)) {
    areColumns = *count == src.sizes.back().known();
    if (!areColumns) {
      groups = *count;
      depth = src.sizes[1];
    }
  } else if (auto softmax = dyn_cast<SoftmaxOp>(*op)) {
    areColumns = softmax.getColumns();
  } else if (auto pool = dyn_cast<PoolOp>(*op)) {
    areColumns = true;
    windows = windowsOf(src.sizes, dst.sizes, pool.getTaps(), pool.getStrides(),
                        pool.getDilations(), pool.getPads());
    int64_t taps = 1;
    for (const WindowDim &window : windows)
      taps *= window.taps;
    depth = taps;
    return;
  } else {
    areColumns = isa<ReduceOp>(*op);
  }
  if (areColumns)
    depth = src.sizes[src.sizes.size() - 2];
}

RowScheduleAttr Rows::schedule() const {
  return op->getAttrOfType<RowScheduleAttr>("schedule");
}

Team Rows::team() const {
  return {schedule().getThreads(), schedule().getBlockThreads(),
          areColumns ? schedule().getRows() : 1};
}

int64_t Rows::numResults() const {
  auto norm = dyn_cast<RowNormOp>(*op);
  if (isa<NormalizeOp>(*op))
    return 0;
  const bool isOne = isa<PoolOp, ReduceOp>(*op) || (norm && norm.getRms());
  return (isOne ? 1 : 2) * (areColumns ? schedule().getVector() : 1);
}

void Rows::resolve(Code &code) {
  src.resolve(code, op->getOperand(0));
  dst.resolve(code, dstOf(op));
  cuda::resolve(code, operands, op.getEpilogueOperands());
  for (auto [i, window] : llvm::enumerate(windows))
    window.size = src.sizes[i + 1];
  if (isa<ReduceOp>(*op))
    depth = src.sizes[src.sizes.size() - 2];
}

ArrayRef<Number> Rows::outerSizes() const {
  ArrayRef<Number> sizes(dst.sizes);
  if (groupsOf(op))
    return sizes.take_front();
  return sizes.drop_back(areColumns && isa<SoftmaxOp>(*op) ? 2 : 1);
}

int64_t Rows::unitsOfRow(int64_t vector) const {
  return areColumns ? src.sizes.back().known() / vector : groups;
}

bool Rows::isOpen() const {
  return llvm::any_of(src.sizes, [](Number size) { return size.isOpen(); });
}

int64_t Rows::bytes() const {
  return usualProduct(src.sizes) * src.elementBytes();
}

Number Rows::rows(Code &code) const {
  SmallVector<Number> sizes(outerSizes());
  sizes.push_back(unitsOfRow(schedule().getVector()));
  return code.product(sizes);
}

int64_t Rows::usualRows(int64_t vector) const {
  return usualProduct(outerSizes()) * unitsOfRow(vector) * parts;
}

Number Rows::vectors(int64_t vector) const {
  if (depth.isOpen())
    return depth;
  return depth.known() / parts * (areColumns ? 1 : part() / vector);
}

SmallVector<Value> Rows::indicesOf(Code &code, Value row, Value number) const {
  const int64_t vector = schedule().getVector();
  if (areColumns) {
    SmallVector<Value> indices = columnsOf(code, row);
    indices.insert(indices.end() - 1, number);
    return indices;
  }
  if (!groupsOf(op)) {
    SmallVector<Value> indices = code.delinearize(row, outerSizes());
    indices.push_back(code.multiply(number, vector));
    return indices;
  }
  const int64_t vectors = part() / vector;
  Value channel =
      code.add(code.multiply(code.remainder(row, groups), part()),
               code.multiply(code.remainder(number, vectors), vector));
  return {code.divide(row, groups), code.divide(number, vectors), channel};
}

Value Rows::groupOf(Code &code, Value row) const {
  return areColumns ? columnsOf(code, row).back() : code.remainder(row, groups);
}

SmallVector<Value> Rows::columnsOf(Code &code, Value row) const {
  SmallVector<Number> sizes(outerSizes());
  const int64_t vector = schedule().getVector();
  sizes.push_back(unitsOfRow(vector));
  SmallVector<Value> indices = code.delinearize(row, sizes);
  indices.back() = code.multiply(indices.back(), vector);
  return indices;
}
