//===- RowEmitter.cpp - loops over rows of contiguous elements ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Small builders
//===----------------------------------------------------------------------===//

void cpu::forEachRow(IndexBuilder &b, const Plan &plan, Value memref,
                     Value number, function_ref<void(ArrayRef<Index>)> body) {
  int64_t dims = cast<MemRefType>(memref.getType()).getRank() - 1;
  Index rows = countOf(b, memref, 0, dims);
  TaskRange range = rangeOf(b, number, plan.grid, rows, 1);
  forEach(b, range.firstRow, range.endRow, 1,
          [&](Value row) { body(coordinatesOf(b, memref, dims, Index(row))); });
}

Value cpu::floatConstant(IndexBuilder &b, double value) {
  return arith::ConstantOp::create(b.b, b.loc,
                                   b.b.getF32FloatAttr(float(value)));
}

Value cpu::toFloat(IndexBuilder &b, Index x) {
  if (!x.value)
    return floatConstant(b, double(x.constant));
  Value wide =
      arith::IndexCastOp::create(b.b, b.loc, b.b.getI64Type(), b.get(x));
  return arith::SIToFPOp::create(b.b, b.loc, b.b.getF32Type(), wide);
}

Value cpu::loadPiece(IndexBuilder &b, int64_t lanes, Value data, Index at,
                     Value mask) {
  auto type = VectorType::get(
      {lanes}, cast<MemRefType>(data.getType()).getElementType());
  if (!mask)
    return widenFloats(
        b, vector::LoadOp::create(b.b, b.loc, type, data, b.get(at)));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return widenFloats(b, vector::MaskedLoadOp::create(b.b, b.loc, type, data,
                                                     b.get(at), mask, zero));
}

SmallVector<Index> cpu::indicesOf(IndexBuilder &b, Value vector) {
  SmallVector<Index> indices;
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t lane = 0; lane < lanes; ++lane)
    indices.push_back(Index(Value(arith::IndexCastOp::create(
        b.b, b.loc, b.b.getIndexType(),
        vector::ExtractOp::create(b.b, b.loc, vector, lane)))));
  return indices;
}

Value cpu::loadParts(IndexBuilder &b, Value data, Index at,
                     ArrayRef<Index> starts, int64_t size) {
  SmallVector<Value> parts;
  for (Index start : starts)
    parts.push_back(loadPiece(b, size, data, b.add(at, start), {}));
  while (parts.size() > 1) {
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, size *= 2));
    SmallVector<Value> joined;
    for (size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(
          vector::ShuffleOp::create(b.b, b.loc, parts[i], parts[i + 1], all));
    parts = joined;
  }
  return bytesToFloats(b, parts.front());
}

Value cpu::bytesToFloats(IndexBuilder &b, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (!type.getElementType().isInteger(8))
    return vector;
  return arith::UIToFPOp::create(b.b, b.loc, type.clone(b.b.getF32Type()),
                                 vector);
}

void cpu::storePiece(IndexBuilder &b, Value vector, Value data, Index at,
                     Value mask) {
  if (!mask)
    vector::StoreOp::create(b.b, b.loc, vector, data, b.get(at));
  else
    vector::MaskedStoreOp::create(b.b, b.loc, data, b.get(at), mask, vector);
}

Value cpu::keepLanes(IndexBuilder &b, Value mask, Value x) {
  if (!mask)
    return x;
  Value zero =
      arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(x.getType()));
  return arith::SelectOp::create(b.b, b.loc, mask, x, zero);
}
