//===- Addressing.cpp - elements of memrefs by their offset ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/Addressing.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot::cpu;

Index::Index(Value value) : value(value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    constant = number.getSExtValue();
    this->value = {};
  }
}

Index IndexBuilder::add(Index x, Index y) {
  Index sum(x.constant + y.constant);
  if (x.value && y.value)
    sum.value = arith::AddIOp::create(b, loc, x.value, y.value);
  else
    sum.value = x.value ? x.value : y.value;
  return sum;
}

Index IndexBuilder::sub(Index x, Index y) { return add(x, mul(y, -1)); }

Index IndexBuilder::mul(Index x, int64_t factor) {
  if (factor == 0)
    return 0;
  Index product(x.constant * factor);
  product.value = x.value;
  if (x.value && factor != 1)
    product.value = arith::MulIOp::create(
        b, loc, x.value, arith::ConstantIndexOp::create(b, loc, factor));
  return product;
}

Index IndexBuilder::mul(Index x, Index y) {
  if (!y.value)
    return mul(x, y.constant);
  if (!x.value)
    return mul(y, x.constant);
  return Value(arith::MulIOp::create(b, loc, get(x), get(y)));
}

Index IndexBuilder::div(Index x, Index divisor) {
  if (!divisor.value && divisor.constant == 1)
    return x;
  if (!x.value && !divisor.value)
    return x.constant / divisor.constant;
  return Value(arith::DivUIOp::create(b, loc, get(x), get(divisor)));
}

Index IndexBuilder::divideCeil(Index x, Index divisor) {
  return div(add(x, add(divisor, -1)), divisor);
}

Index IndexBuilder::rem(Index x, Index divisor) {
  if (!divisor.value && divisor.constant == 1)
    return 0;
  if (!x.value && !divisor.value)
    return x.constant % divisor.constant;
  return Value(arith::RemUIOp::create(b, loc, get(x), get(divisor)));
}

Index IndexBuilder::min(Index x, Index y) {
  if (!x.value && !y.value)
    return std::min(x.constant, y.constant);
  return Value(arith::MinSIOp::create(b, loc, get(x), get(y)));
}

Index IndexBuilder::max(Index x, Index y) {
  if (!x.value && !y.value)
    return std::max(x.constant, y.constant);
  return Value(arith::MaxSIOp::create(b, loc, get(x), get(y)));
}

Value IndexBuilder::compare(arith::CmpIPredicate predicate, Index x, Index y) {
  return arith::CmpIOp::create(b, loc, predicate, get(x), get(y));
}

Value IndexBuilder::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  return arith::AndIOp::create(b, loc, x, y);
}

Index IndexBuilder::select(Value condition, Index x, Index y) {
  return Value(arith::SelectOp::create(b, loc, condition, get(x), get(y)));
}

void IndexBuilder::branch(Value condition, function_ref<void()> then,
                          function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElse=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  then();
  if (!otherwise)
    return;
  b.setInsertionPointToStart(op.elseBlock());
  otherwise();
}

Value IndexBuilder::get(Index x) {
  if (x.value && x.constant == 0)
    return x.value;
  Value constant = arith::ConstantIndexOp::create(b, loc, x.constant);
  if (!x.value)
    return constant;
  return arith::AddIOp::create(b, loc, x.value, constant);
}

Index ingot::cpu::dimOf(IndexBuilder &b, Value memref, int64_t i) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(i))
    return type.getDimSize(i);
  return Index(Value(memref::DimOp::create(b.b, b.loc, memref, i)));
}

Index ingot::cpu::countOf(IndexBuilder &b, Value memref, int64_t first,
                          int64_t end) {
  Index product = 1;
  for (int64_t i = first; i < end; ++i)
    product = b.mul(product, dimOf(b, memref, i));
  return product;
}

SmallVector<Index> ingot::cpu::coordinatesOf(IndexBuilder &b, Value memref,
                                             int64_t dims, Index number) {
  SmallVector<Index> coordinates(dims, Index(0));
  for (int64_t i = dims - 1; i > 0; --i) {
    Index size = dimOf(b, memref, i);
    coordinates[i] = b.rem(number, size);
    number = b.div(number, size);
  }
  if (dims)
    coordinates[0] = number;
  return coordinates;
}

Flat::Flat(IndexBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  shape = type.getShape();
  int64_t offset;
  SmallVector<int64_t> known;
  (void)type.getStridesAndOffset(known, offset);
  memref::ExtractStridedMetadataOp metadata;
  for (auto [i, stride] : llvm::enumerate(known)) {
    if (!ShapedType::isDynamic(stride)) {
      strides.push_back(stride);
      continue;
    }
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(b.b, b.loc, memref);
    strides.push_back(Index(metadata.getStrides()[i]));
  }
  // Uses an unknown size, because no code checks the size of the flat memref.
  // All accesses are within the original memref.
  auto flat = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  Value size = arith::ConstantIndexOp::create(
      b.b, b.loc, std::numeric_limits<int32_t>::max());
  data = memref::ReinterpretCastOp::create(
      b.b, b.loc, flat, memref, OpFoldResult(b.b.getIndexAttr(0)),
      ArrayRef<OpFoldResult>{size},
      ArrayRef<OpFoldResult>{b.b.getIndexAttr(1)});
}

Index Flat::at(IndexBuilder &b, ArrayRef<Index> coordinates) const {
  Index sum;
  for (auto [coordinate, stride] : llvm::zip_equal(coordinates, strides))
    sum = b.add(sum, b.mul(coordinate, stride));
  return sum;
}

SmallVector<Flat> ingot::cpu::flatten(IndexBuilder &b, ValueRange memrefs) {
  SmallVector<Flat> flat;
  for (Value memref : memrefs)
    flat.emplace_back(b, memref);
  return flat;
}
