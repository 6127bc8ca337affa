//===- ByteLookup.cpp - lookups of bytes in a table -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/rows/ByteLookup.h"

#include "passes/cpu/products/MicroKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of bytes of a vector of AVX-512.
static constexpr int64_t kWords = 64;
/// The number of entries that `pshufb` picks from.
static constexpr int64_t kPart = 16;

static VectorType vectorOf(IndexBuilder &b, int64_t bytes, int64_t bits) {
  return VectorType::get({bytes * 8 / bits}, b.b.getIntegerType(bits));
}

static Value callIntrinsic(IndexBuilder &b, StringRef name, Type type,
                           ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b.b, b.loc, type,
                                       b.b.getStringAttr(name), arguments)
      .getResults();
}

static Value numbers(IndexBuilder &b, Value like, int64_t number) {
  return splatInt(b, cast<VectorType>(like.getType()), number);
}

ByteLookup::ByteLookup(IndexBuilder &b, int64_t numBytes, Value table)
    : numBytes(numBytes) {
  bool isWords = numBytes == kWords;
  int64_t size = isWords ? kWords : kPart;
  Value before;
  for (int64_t from = 0; from < 256; from += size) {
    Value part = vector::LoadOp::create(b.b, b.loc, vectorOf(b, size, 8),
                                        table, b.get(from));
    if (isWords) {
      parts.push_back(vector::BitCastOp::create(
          b.b, b.loc, vectorOf(b, size, 16), part));
      continue;
    }
    if (numBytes != kPart) {
      SmallVector<int64_t> lanes;
      for (int64_t i = 0; i < numBytes; ++i)
        lanes.push_back(i % kPart);
      part = vector::ShuffleOp::create(b.b, b.loc, part, part, lanes);
    }
    // Stores the first part of each half of the table as it is. All other parts
    // are stored as the exclusive or with the previous part.
    Value difference = part;
    if (from % 128 != 0)
      difference = arith::XOrIOp::create(b.b, b.loc, part, before);
    parts.push_back(difference);
    before = part;
  }
}

ByteLookup ByteLookup::widest(IndexBuilder &b, const TargetInfo &target,
                              Value table) {
  return ByteLookup(b, target.lanes * 4, table);
}

ByteLookup ByteLookup::narrow(IndexBuilder &b, Value table) {
  return ByteLookup(b, kPart, table);
}

bool ByteLookup::hasMasks(const TargetInfo &target) {
  return target.lanes * 4 == kWords;
}

Value ByteLookup::emit(IndexBuilder &b, Value vector) const {
  return numBytes == kWords ? emitWords(b, vector) : emitParts(b, vector);
}

Value ByteLookup::emitWords(IndexBuilder &b, Value vector) const {
  VectorType type = vectorOf(b, kWords, 16);
  Value pairs = vector::BitCastOp::create(b.b, b.loc, type, vector);
  auto number = [&](int64_t value) { return numbers(b, pairs, value); };
  auto right = [&](Value x, int64_t bits) -> Value {
    return arith::ShRUIOp::create(b.b, b.loc, x, number(bits));
  };
  // Returns the words of the table for indices. Only the lowest six bits of an
  // index count; `isUpper` selects the half of the table.
  auto pick = [&](Value index, Value isUpper) -> Value {
    auto permute = [&](int64_t first) {
      return callIntrinsic(b, "llvm.x86.avx512.vpermi2var.hi.512", type,
                           {parts[first], index, parts[first + 1]});
    };
    return arith::SelectOp::create(b.b, b.loc, isUpper, permute(2), permute(0));
  };
  auto test = [&](Value x, int64_t bits) -> Value {
    Value set = arith::AndIOp::create(b.b, b.loc, x, number(bits));
    return arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::ne, set,
                                 number(0));
  };
  // Returns 8 for each word whose bit 3 is set, else 0. The result is used as a
  // shift by one byte.
  auto eights = [&](Value x) -> Value {
    return arith::AndIOp::create(b.b, b.loc, x, number(8));
  };
  Value even = pick(right(pairs, 1), test(pairs, 0x80));
  Value three = number(3);
  Value down = eights(arith::ShLIOp::create(b.b, b.loc, pairs, three));
  even = arith::ShRUIOp::create(b.b, b.loc, even, down);
  Value odd = pick(right(pairs, 9), test(pairs, -0x8000));
  Value up = arith::XOrIOp::create(b.b, b.loc, eights(right(pairs, 5)),
                                   number(8));
  odd = arith::ShLIOp::create(b.b, b.loc, odd, up);
  Value both = arith::OrIOp::create(
      b.b, b.loc, arith::AndIOp::create(b.b, b.loc, even, number(0xff)),
      arith::AndIOp::create(b.b, b.loc, odd, number(-0x100)));
  return vector::BitCastOp::create(b.b, b.loc, vectorOf(b, kWords, 8), both);
}

Value ByteLookup::emitParts(IndexBuilder &b, Value vector) const {
  StringRef name = numBytes == kPart ? "llvm.x86.ssse3.pshuf.b.128"
                                     : "llvm.x86.avx2.pshuf.b";
  Type type = vector.getType();
  Value step = numbers(b, vector, kPart), sum;
  Value lower = vector, upper = arith::XOrIOp::create(
                            b.b, b.loc, vector, numbers(b, vector, -0x80));
  size_t half = parts.size() / 2;
  for (size_t i = 0; i < half; ++i) {
    for (auto [index, part] :
         {std::pair(lower, parts[i]), std::pair(upper, parts[half + i])}) {
      Value picked = callIntrinsic(b, name, type, {part, index});
      sum = sum ? arith::XOrIOp::create(b.b, b.loc, sum, picked).getResult()
                : picked;
    }
    if (i + 1 == half)
      break;
    lower = LLVM::SSubSat::create(b.b, b.loc, type, lower, step);
    upper = LLVM::SSubSat::create(b.b, b.loc, type, upper, step);
  }
  return sum;
}
