//===- PairProducts.cpp - products of bytes without VNNI ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static int64_t bytesOf(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Returns the vector's bits as elements of `bits` bits.
static Value withElements(IndexBuilder &b, Value vector, int64_t bits) {
  return vector::BitCastOp::create(
      b.b, b.loc,
      VectorType::get({bytesOf(vector) * 8 / bits}, b.b.getIntegerType(bits)),
      vector);
}

Value cpu::callOfWidth(IndexBuilder &b, ArrayRef<StringRef> names, int64_t bits,
                       ValueRange arguments) {
  int64_t bytes = bytesOf(arguments[0]);
  auto type = VectorType::get({bytes * 8 / bits}, b.b.getIntegerType(bits));
  return LLVM::CallIntrinsicOp::create(
             b.b, b.loc, type,
             b.b.getStringAttr(names[llvm::Log2_64(bytes / 16)]), arguments)
      .getResults();
}

Value cpu::asInt16(IndexBuilder &b, Value integers) {
  return withElements(b, integers, 16);
}

Value cpu::multiplyPairs(IndexBuilder &b, Value x, Value y) {
  return callOfWidth(b,
                     {"llvm.x86.sse2.pmadd.wd", "llvm.x86.avx2.pmadd.wd",
                      "llvm.x86.avx512.pmaddw.d.512"},
                     32, {x, y});
}

Value cpu::widenBytes(IndexBuilder &b, Value bytes, int64_t i) {
  Value pairs = withElements(b, bytes, 16);
  Value eight = splatInt(b, cast<VectorType>(pairs.getType()), 8);
  if (i == 0)
    pairs = arith::ShLIOp::create(b.b, b.loc, pairs, eight);
  return arith::ShRSIOp::create(b.b, b.loc, pairs, eight);
}

Value cpu::addInt16(IndexBuilder &b, Value row, Value weights, Value sum) {
  return arith::AddIOp::create(b.b, b.loc, sum, multiplyPairs(b, row, weights));
}

Value cpu::multiplyBytes(IndexBuilder &b, Value x, Value y) {
  return callOfWidth(b,
                     {"llvm.x86.ssse3.pmadd.ub.sw.128",
                      "llvm.x86.avx2.pmadd.ub.sw",
                      "llvm.x86.avx512.pmaddubs.w.512"},
                     16, {x, y});
}

Value cpu::addPairs(IndexBuilder &b, Value row, Value weights, Value sum) {
  Value words = multiplyBytes(b, row, weights);
  Value ones = splatInt(b, cast<VectorType>(words.getType()), 1);
  return addInt16(b, words, ones, sum);
}
