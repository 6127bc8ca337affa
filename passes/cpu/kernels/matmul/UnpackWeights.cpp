//===- UnpackWeights.cpp - packed weights as f32 --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/matmul/UnpackWeights.h"

#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/PairProducts.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

// There are three ways to convert packed values to f32. A table of floats takes
// a shift and a `vpermps` for each vector, because `vpermps` only uses the
// lowest four bits of an index. Without a table, two shifts extend the sign for
// a conversion. With four bits, `pshufb` instead looks up the signed bytes of
// four values at once. Another `pshufb` moves a byte to the top of its lane,
// which multiplies the value by 2^24. This is faster because shifts and
// conversions compete with multiply-adds for ports, and shuffles mostly do not.
static constexpr int64_t kTableLanes = 16, kTableBits = 4;

Unpacker::Unpacker(IndexBuilder &b, int64_t lanes, int64_t bits)
    : lanes(lanes), bits(bits) {
  if (lanes != kTableLanes || bits > kTableBits)
    return;
  SmallVector<float> entries;
  for (int64_t code = 0; code < kTableLanes; ++code) {
    int64_t number = code & ((1 << bits) - 1);
    if (number >= 1 << (bits - 1))
      number -= 1 << bits;
    entries.push_back(float(number));
  }
  auto type = VectorType::get({lanes}, b.b.getF32Type());
  table = arith::ConstantOp::create(
      b.b, b.loc, DenseElementsAttr::get(type, ArrayRef<float>(entries)));
}

SmallVector<int64_t> Unpacker::order(int64_t count) const {
  SmallVector<int64_t> numbers;
  int64_t step = areExtendedAsBytes() ? 2 : 1;
  for (int64_t first = 0; first < step; ++first)
    for (int64_t i = first; i < count; i += step)
      numbers.push_back(i);
  return numbers;
}

float Unpacker::factor() const { return areExtendedAsBytes() ? 0x1p24f : 1; }

Value Unpacker::unpackByBytes(IndexBuilder &b, Value words, int64_t i) const {
  constexpr int64_t kPart = 16, kBytes = 4;
  auto type = cast<VectorType>(words.getType());
  auto bytes = VectorType::get({lanes * kBytes}, b.b.getI8Type());
  auto makeConstant = [&](function_ref<int8_t(int64_t)> at) -> Value {
    SmallVector<int8_t> values;
    for (int64_t k = 0; k < lanes * kBytes; ++k)
      values.push_back(at(k % kPart));
    return arith::ConstantOp::create(
        b.b, b.loc, DenseElementsAttr::get(bytes, ArrayRef<int8_t>(values)));
  };
  auto look = [&](Value table, Value places) -> Value {
    return callOfWidth(b,
                       {"llvm.x86.ssse3.pshuf.b.128", "llvm.x86.avx2.pshuf.b",
                        "llvm.x86.avx512.pshuf.b.512"},
                       8, {table, places});
  };
  if (i % 2 != 0)
    words = arith::ShRUIOp::create(b.b, b.loc, words, splatInt(b, type, bits));
  words = arith::AndIOp::create(b.b, b.loc, words,
                                splatInt(b, type, 0x0f0f0f0f));
  Value numbers = look(makeConstant([](int64_t code) {
                         return int8_t(code < 8 ? code : code - 16);
                       }),
                       vector::BitCastOp::create(b.b, b.loc, bytes, words));
  // Uses negative indices for bytes that `pshufb` must set to 0.
  Value tops = look(numbers, makeConstant([&](int64_t k) {
                      return int8_t(k % kBytes == kBytes - 1
                                        ? k / kBytes * kBytes + i / 2
                                        : -1);
                    }));
  return arith::SIToFPOp::create(
      b.b, b.loc, VectorType::get({lanes}, b.b.getF32Type()),
      vector::BitCastOp::create(b.b, b.loc, type, tops));
}

Value Unpacker::unpack(IndexBuilder &b, Value words, int64_t i) const {
  auto type = cast<VectorType>(words.getType());
  auto real = VectorType::get({lanes}, b.b.getF32Type());
  if (readsBytes()) {
    auto bytes = VectorType::get({lanes}, b.b.getI8Type());
    words = arith::ExtSIOp::create(
        b.b, b.loc, VectorType::get({lanes}, b.b.getI32Type()),
        vector::BitCastOp::create(b.b, b.loc, bytes, words));
    return arith::SIToFPOp::create(b.b, b.loc, real, words);
  }
  if (table) {
    if (i != 0)
      words = arith::ShRUIOp::create(b.b, b.loc, words,
                                     splatInt(b, type, i * bits));
    return LLVM::CallIntrinsicOp::create(
               b.b, b.loc, real,
               b.b.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
               ValueRange{table, words})
        .getResults();
  }
  if (areExtendedAsBytes())
    return unpackByBytes(b, words, i);
  int64_t above = 32 - bits * (i + 1);
  if (above != 0)
    words = arith::ShLIOp::create(b.b, b.loc, words, splatInt(b, type, above));
  words =
      arith::ShRSIOp::create(b.b, b.loc, words, splatInt(b, type, 32 - bits));
  return arith::SIToFPOp::create(b.b, b.loc, real, words);
}

int64_t cpu::unpackedAtOnce(cpu::PackedMatMulOp op,
                            const PackedMatMulPlan &plan, int64_t rowSize) {
  int64_t depth = op.depth(), perWord = op.perWord();
  int64_t block = std::min<int64_t>(op.getFormat().getBlockSize(), depth);
  // Lets the rows of weights take half of the first-level cache, because the
  // loop also reads other data. With many rows, the weights may take the whole
  // cache if a whole column then fits. Two halves of a column cost more,
  // because partial sums would be stored between them.
  int64_t room = plan.target.l1 / int64_t(sizeof(float)) / rowSize;
  bool isForMany =
      ShapedType::isDynamic(plan.rows) ||
      plan.rows > cpu::threshold::unpackedManyTiles * plan.tile.rows;
  int64_t most = depth <= room && isForMany ? room : room / 2;
  if (op.blocks() == 1 || block <= most) {
    int64_t unit = op.blocks() == 1 ? perWord : block;
    int64_t parts =
        llvm::divideCeil(depth, std::max(most / unit * unit, unit));
    int64_t even = llvm::divideCeil(depth, std::max<int64_t>(parts, 1));
    return std::min<int64_t>(depth, llvm::alignTo(even, unit));
  }
  int64_t size = std::max(most / perWord * perWord, perWord);
  while (block % size != 0)
    size -= perWord;
  return size;
}

Value cpu::widenF16(IndexBuilder &b, Value weights) {
  auto half = cast<VectorType>(weights.getType());
  VectorType words = half.clone(b.b.getI32Type()),
             floats = half.clone(b.b.getF32Type());
  auto op = [&](auto kind, Value x, Value y) -> Value {
    return decltype(kind)::create(b.b, b.loc, x, y);
  };
  Value bits = arith::BitcastOp::create(b.b, b.loc,
                                        half.clone(b.b.getI16Type()), weights);
  bits = arith::ExtUIOp::create(b.b, b.loc, words, bits);
  Value size = op(arith::AndIOp(), bits, splatInt(b, words, 0x7fff));
  Value sign = op(arith::ShLIOp(),
                  op(arith::AndIOp(), bits, splatInt(b, words, 0x8000)),
                  splatInt(b, words, 16));
  // Adds 112 to the exponent, the difference between the biases of f32 and f16.
  Value usual = op(arith::AddIOp(),
                   op(arith::ShLIOp(), size, splatInt(b, words, 13)),
                   splatInt(b, words, 112 << 23));
  // Handles denormals, which have no leading one and count steps of 2^-24.
  Value steps = arith::SIToFPOp::create(b.b, b.loc, floats, size);
  Value small = op(arith::MulFOp(), steps,
                   arith::ConstantOp::create(
                       b.b, b.loc,
                       DenseElementsAttr::get(
                           floats, b.b.getF32FloatAttr(0x1p-24f))));
  Value isSmall = arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::ult,
                                        size, splatInt(b, words, 1 << 10));
  Value whole = arith::SelectOp::create(
      b.b, b.loc, isSmall, arith::BitcastOp::create(b.b, b.loc, words, small),
      usual);
  return arith::BitcastOp::create(b.b, b.loc, floats,
                                  op(arith::OrIOp(), whole, sign));
}
