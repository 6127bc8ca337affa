//===- StoreRows.cpp - epilogues of products ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/products/StoreRows.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

EpilogueArrays::EpilogueArrays(Code &code, kernel::EpilogueOpInterface op,
                               ArrayRef<StridedLayout> operands,
                               const StridedLayout &dst)
    : op(op), operands(operands), dst(dst) {
  for (Value operand : op.getEpilogueOperands())
    addresses.push_back(code.addressOf(operand));
  dstAddress = code.addressOf(dstOf(op));
}

RowStorer::RowStorer(Code &code, const Product &product, Value thread,
                     const Place &place)
    : code(code), product(product), schedule(product.schedule()),
      stored(schedule.getStored()), rows(code.product(product.rowSizes())),
      thread(thread), place(place),
      arrays(code, product.op, product.operands, product.dst) {
  if (place.part)
    arrays.dstAddress =
        code.shift(arrays.dstAddress, product.dst.element,
                   code.multiply(place.part, product.partStride));
}

void RowStorer::store(Value sums) {
  const int64_t vectors = schedule.getColumns() / stored;
  const int64_t total = schedule.getRows() * vectors;
  auto loop = scf::ForOp::create(code.b, code.loc, thread, code.number(total),
                                 code.number(schedule.getThreads()));
  OpBuilder::InsertionGuard guard(code.b);
  code.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value row = code.divide(at, vectors);
  Value column = code.multiply(code.remainder(at, vectors), stored);
  Value resultRow = code.add(place.firstRow, row);
  Value resultColumn = code.add(place.firstColumn, column);
  Value isInside;
  if (!rows.isMultipleOf(schedule.getRows()))
    isInside = code.isWithin(resultRow, rows);
  if (!product.columns().isMultipleOf(schedule.getColumns()))
    isInside =
        code.both(isInside, code.isWithin(resultColumn, product.columns()));
  if (isInside) {
    auto branch = scf::IfOp::create(code.b, code.loc, isInside,
                                    /*withElseRegion=*/false);
    code.b.setInsertionPoint(branch.thenYield());
  }
  Value first = code.add(code.multiply(row, schedule.getSumStride()), column);
  storeVector(code.shift(sums, code.b.getF32Type(), first), resultRow,
              resultColumn);
}

SmallVector<Value> cuda::loadElements(Code &code, Value address, Type element,
                                      int64_t count) {
  const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  const int64_t each = std::min(count, kAccessBytes / bytes);
  SmallVector<Value> elements;
  for (int64_t at = 0; at < count; at += each) {
    Value from =
        at == 0 ? address : code.shift(address, element, code.number(at));
    if (each == 1) {
      elements.push_back(code.load(from, element, bytes));
      continue;
    }
    Value vector =
        code.load(from, VectorType::get(each, element), each * bytes);
    for (int64_t i = 0; i < each; ++i)
      elements.push_back(code.extract(vector, i));
  }
  return elements;
}

Value RowStorer::offsetIn(const StridedLayout &layout, Value row,
                          Value column) {
  SmallVector<Number> strides;
  for (auto [size, stride] : llvm::zip_equal(layout.sizes, layout.strides))
    strides.push_back(size.is(1) ? Number(0) : stride);
  const unsigned numBatch = product.numBatchDims;
  ArrayRef<Number> sizes = product.dst.sizes;
  Value offset = code.add(
      code.offsetOf(place.batch, sizes.take_front(numBatch),
                    ArrayRef(strides).take_front(numBatch)),
      code.offsetOf(row, product.rowSizes(),
                    ArrayRef(strides).drop_front(numBatch).drop_back()));
  if (strides.back().is(0))
    return offset;
  if (product.groups > 1)
    column = code.add(column, code.multiply(place.batch, product.columns()));
  return code.add(offset, code.multiply(column, strides.back()));
}

/// Runs the epilogue on neighboring `sums`, and stores the results.
/// `offsetIn` returns the offset of the first element in an array.
static void
runEpilogue(Code &code, const EpilogueArrays &arrays, ArrayRef<Value> sums,
            function_ref<Value(const StridedLayout &layout)> offsetIn) {
  kernel::EpilogueOpInterface op = arrays.op;
  const int64_t stored = int64_t(sums.size());
  SmallVector<SmallVector<Value>> values;
  values.push_back(SmallVector<Value>(sums));
  Block &body = op.getEpilogue().front();
  for (auto [i, layout] : llvm::enumerate(arrays.operands)) {
    const bool isFull = !layout.sizes.back().is(1);
    Type type = body.getArgument(unsigned(i) + 1).getType();
    Value from = code.shift(arrays.addresses[i], type, offsetIn(layout));
    SmallVector<Value> loaded =
        loadElements(code, from, type, isFull ? stored : 1);
    loaded.resize(size_t(stored), loaded.front());
    values.push_back(loaded);
  }
  Type element = body.getTerminator()->getOperand(0).getType();
  Value dst = code.shift(arrays.dstAddress, element, offsetIn(arrays.dst));
  SmallVector<Value> results;
  for (size_t i = 0; i < size_t(stored); ++i) {
    IRMapping inner;
    for (auto [argument, own] : llvm::zip_equal(body.getArguments(), values))
      inner.map(argument, own[i]);
    for (Operation &inside : body.without_terminator())
      code.b.clone(inside, inner);
    results.push_back(
        inner.lookupOrDefault(body.getTerminator()->getOperand(0)));
  }
  const int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  const int64_t each = std::min(stored, kAccessBytes / bytes);
  for (int64_t at = 0; at < stored; at += each) {
    Value to = at == 0 ? dst : code.shift(dst, element, code.number(at));
    Value value = results[size_t(at)];
    if (each > 1) {
      value = LLVM::PoisonOp::create(code.b, code.loc,
                                     VectorType::get(each, element));
      for (int64_t i = 0; i < each; ++i)
        value = LLVM::InsertElementOp::create(
            code.b, code.loc, value, results[size_t(at + i)], code.number(i));
    }
    code.store(value, to, each * bytes);
  }
}

void RowStorer::storeVector(Value sums, Value row, Value column) {
  runEpilogue(code, arrays,
              loadElements(code, sums, code.b.getF32Type(), stored),
              [&](const StridedLayout &layout) {
                return offsetIn(layout, row, column);
              });
}

void cuda::storeThroughEpilogue(Code &code, const EpilogueArrays &arrays,
                                ArrayRef<Value> indices, ArrayRef<Value> sums) {
  runEpilogue(code, arrays, sums, [&](const StridedLayout &layout) {
    Value offset = code.number(0);
    for (auto [index, size, stride] :
         llvm::zip_equal(indices, layout.sizes, layout.strides))
      if (!size.is(1))
        offset = code.add(offset, code.multiply(index, stride));
    return offset;
  });
}
