//===- RoundBlocksToVector.cpp - cpu-round-blocks-to-vector ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds blocks of floats to int8 with a scale:
//
//     for row
//       for block
//         largest magnitude, scale
//         for part of the block: round, store bytes, add up
//         store the sum
//
// Magnitudes are compared as integers, because floats without a sign have the
// same order. A NaN is larger than all of them.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/support/PackedRange.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_ROUNDBLOCKSTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// The number of elements that are rounded at once. Their bytes are four 32-bit
/// words, a vector of every level.
static constexpr int64_t kPart = 16;

namespace {

struct Emitter : RowEmitter<cpu::RoundBlocksOp, Emitter> {
  using RowEmitter::RowEmitter;

  void emitRow(ArrayRef<Index> row);
  void emitBlock(Index from, Index to, int64_t count);
  Value load(Index at, int64_t count);
  Value largestOf(Index from, int64_t count);
  Value round(Value part, Value factor);
  void storeBytes(Value numbers, Index at, int64_t words);
  void storeWord(Value word, Index at) {
    memref::StoreOp::create(b.b, b.loc, word, output.dst.data, b.get(at));
  }
  Value integer(int32_t value) {
    return arith::ConstantOp::create(b.b, b.loc,
                                     b.b.getI32IntegerAttr(value));
  }
  VectorType partOf(Type element) { return VectorType::get({kPart}, element); }
};

struct RoundBlocksToVectorPass
    : ingot::impl::RoundBlocksToVectorBase<RoundBlocksToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::RoundBlocksOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

/// Loads `count` elements from `src[at]` on, followed by zeros.
Value Emitter::load(Index at, int64_t count) {
  Value mask;
  if (count < kPart)
    mask = maskOfFirst(b, kPart, count);
  return loadPiece(b, kPart, src.data, at, mask);
}

/// Returns the bits of the largest magnitude.
Value Emitter::largestOf(Index from, int64_t count) {
  VectorType words = partOf(b.b.getI32Type());
  Value largest;
  for (int64_t at = 0; at < count; at += kPart) {
    Value part = arith::BitcastOp::create(
        b.b, b.loc, words, load(b.add(from, at), count - at));
    part = arith::AndIOp::create(b.b, b.loc, part,
                                 splatInt(b, words, 0x7fffffff));
    largest = largest ? arith::MaxSIOp::create(b.b, b.loc, largest, part)
                            .getResult()
                      : part;
  }
  return vector::ReductionOp::create(b.b, b.loc, vector::CombiningKind::MAXSI,
                                     largest);
}

/// Returns a part's elements times `factor`, rounded to the nearest integer
/// from -127 to 127. An infinity becomes one of these bounds.
Value Emitter::round(Value part, Value factor) {
  auto all = [&](Value number) {
    return vector::BroadcastOp::create(b.b, b.loc, part.getType(), number);
  };
  Value scaled = arith::MulFOp::create(b.b, b.loc, part, all(factor));
  scaled =
      arith::MaxNumFOp::create(b.b, b.loc, scaled, all(floatConstant(b, -127)));
  scaled =
      arith::MinNumFOp::create(b.b, b.loc, scaled, all(floatConstant(b, 127)));
  return arith::FPToSIOp::create(
      b.b, b.loc, partOf(b.b.getI32Type()),
      math::RoundEvenOp::create(b.b, b.loc, scaled));
}

/// Stores the first `words` groups of four values as bytes.
void Emitter::storeBytes(Value numbers, Index at, int64_t words) {
  Value bytes = arith::TruncIOp::create(b.b, b.loc, partOf(b.b.getI8Type()),
                                        numbers);
  Value fours = vector::BitCastOp::create(
      b.b, b.loc, VectorType::get({kPart / 4}, b.b.getI32Type()), bytes);
  if (words >= kPart / 4) {
    vector::StoreOp::create(b.b, b.loc, fours, output.dst.data, b.get(at));
    return;
  }
  for (int64_t i = 0; i < words; ++i)
    storeWord(vector::ExtractOp::create(b.b, b.loc, fours, i), b.add(at, i));
}

/// Rounds a block of `count` elements at `src[from]`, and stores it at
/// `dst[to]`.
void Emitter::emitBlock(Index from, Index to, int64_t count) {
  int64_t block = op.getBlockSize();
  Type real = b.b.getF32Type();
  Value bits = largestOf(from, count);
  Value largest = arith::BitcastOp::create(b.b, b.loc, real, bits);
  // Bounds the bits of the range. The bits of positive floats have their order.
  Value least =
            integer(llvm::bit_cast<int32_t>(127 / support::kMaxBlockFactor)),
        greatest =
            integer(llvm::bit_cast<int32_t>(std::numeric_limits<float>::max()));
  Value range = arith::BitcastOp::create(
      b.b, b.loc, real,
      arith::MinSIOp::create(b.b, b.loc,
                             arith::MaxSIOp::create(b.b, b.loc, bits, least),
                             greatest));
  Value isFinite = arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::sle,
                                         bits, greatest);
  Value most = floatConstant(b, 127);
  Value scale = arith::SelectOp::create(
      b.b, b.loc, isFinite, arith::DivFOp::create(b.b, b.loc, range, most),
      largest);
  storeWord(arith::BitcastOp::create(b.b, b.loc, b.b.getI32Type(), scale), to);
  Value factor = arith::DivFOp::create(b.b, b.loc, most, range);
  Index bytes = b.add(to, cpu::kRoundedHead);
  Value sum;
  for (int64_t at = 0; at < block; at += kPart) {
    Index words = b.add(bytes, at / 4);
    int64_t stored = (block - at) / 4;
    if (at >= count) {
      storeBytes(splatInt(b, partOf(b.b.getI32Type()), 0), words, stored);
      continue;
    }
    Value numbers = round(load(b.add(from, at), count - at), factor);
    storeBytes(numbers, words, stored);
    sum = sum ? arith::AddIOp::create(b.b, b.loc, sum, numbers).getResult()
              : numbers;
  }
  sum = vector::ReductionOp::create(b.b, b.loc, vector::CombiningKind::ADD,
                                    sum);
  storeWord(arith::MulIOp::create(b.b, b.loc, sum,
                                  integer(int32_t(op.getFactor()))),
            b.add(to, 1));
}

void Emitter::emitRow(ArrayRef<Index> row) {
  int64_t depth = src.shape.back(), block = op.getBlockSize();
  int64_t words = cpu::roundedWords(block);
  SmallVector<Index> first(row);
  first.push_back(0);
  Index from = src.at(b, first), to = output.dst.at(b, first);
  int64_t whole = depth / block;
  if (whole != 0)
    forEach(b, 0, whole, 1, [&](Value number) {
      emitBlock(b.add(from, b.mul(Index(number), block)),
                b.add(to, b.mul(Index(number), words)), block);
    });
  if (depth % block != 0)
    emitBlock(b.add(from, whole * block), b.add(to, whole * words),
              depth % block);
}
