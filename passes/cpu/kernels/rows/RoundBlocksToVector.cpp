//===- RoundBlocksToVector.cpp - cpu-round-blocks-to-vector ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds blocks of floats to int8, or to a fixed point of 24 bits, with a
// scale:
//
//     for row
//       for block
//         largest magnitude, scale
//         for part of the block: round
//           for digit: store bytes, add up
//         store the sums
//
// An element of 24 bits is stored as three signed bytes, so that products of
// bytes are exact. It is scale * (d0 + 2^8 d1 + 2^16 d2).
//
// Magnitudes are compared as integers, because floats without a sign have the
// same order. A NaN is larger than all of them.
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/support/PackedRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

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
static constexpr int64_t kWordBytes = 4;

namespace {

struct Emitter : RowEmitter<cpu::RoundBlocksOp, Emitter> {
  using RowEmitter::RowEmitter;

  void emitRow(ArrayRef<Index> row);
  void emitBlock(Index from, Index to, int64_t count);
  Value load(Index at, int64_t count);
  Value largestOf(Index from, int64_t count);
  Value round(Value part, Value factor, double most);
  SmallVector<Value> splitDigits(Value numbers, int64_t digits);
  Value addBytes(Value bytes, Value sum);
  void storeBytes(Value bytes, Index at, int64_t words);
  int64_t wordsOfBlock() {
    int64_t blocks = llvm::divideCeil(src.shape.back(), op.getBlockSize());
    return output.dst.shape.back() / blocks;
  }
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
  void getDependentDialects(DialectRegistry &registry) const override {
    RoundBlocksToVectorBase::getDependentDialects(registry);
    registry.insert<LLVM::LLVMDialect>();
  }

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
/// from `-most` to `most`. An infinity becomes one of these bounds.
Value Emitter::round(Value part, Value factor, double most) {
  auto all = [&](Value number) {
    return vector::BroadcastOp::create(b.b, b.loc, part.getType(), number);
  };
  Value scaled = arith::MulFOp::create(b.b, b.loc, part, all(factor));
  scaled = arith::MaxNumFOp::create(b.b, b.loc, scaled,
                                    all(floatConstant(b, -most)));
  scaled =
      arith::MinNumFOp::create(b.b, b.loc, scaled, all(floatConstant(b, most)));
  return arith::FPToSIOp::create(
      b.b, b.loc, partOf(b.b.getI32Type()),
      math::RoundEvenOp::create(b.b, b.loc, scaled));
}

/// Returns the bytes of each digit of the integers, the lowest digit first.
SmallVector<Value> Emitter::splitDigits(Value numbers, int64_t digits) {
  VectorType type = partOf(b.b.getI8Type());
  if (digits == 1)
    return {arith::TruncIOp::create(b.b, b.loc, type, numbers)};
  // A digit is from -128 to 127. Adding 128 to each but the last makes them the
  // bytes of the sum. Flipping their highest bits subtracts 128 again.
  Value middle = splatInt(b, cast<VectorType>(numbers.getType()), 0x8080);
  numbers = arith::XOrIOp::create(
      b.b, b.loc, arith::AddIOp::create(b.b, b.loc, numbers, middle), middle);
  SmallVector<int64_t> order;
  for (int64_t digit = 0; digit < kWordBytes; ++digit)
    for (int64_t i = 0; i < kPart; ++i)
      order.push_back(i * kWordBytes + digit);
  Value bytes = vector::BitCastOp::create(
      b.b, b.loc, VectorType::get({kPart * kWordBytes}, b.b.getI8Type()),
      numbers);
  bytes = vector::ShuffleOp::create(b.b, b.loc, bytes, bytes, order);
  SmallVector<Value> result;
  for (int64_t digit = 0; digit < digits; ++digit)
    result.push_back(vector::ShuffleOp::create(
        b.b, b.loc, bytes, bytes,
        llvm::to_vector(llvm::seq(digit * kPart, (digit + 1) * kPart))));
  return result;
}

/// Returns `sum` plus the bytes, as vectors of i32. `sum` may be null.
Value Emitter::addBytes(Value bytes, Value sum) {
  if (targetOf(b).hasVNNI) {
    VectorType words = VectorType::get({kPart / kWordBytes}, b.b.getI32Type());
    return multiplyAddGroupsOfFour(b, splatInt(b, partOf(b.b.getI8Type()), 1),
                                   bytes, sum ? sum : splatInt(b, words, 0));
  }
  Value wide =
      arith::ExtSIOp::create(b.b, b.loc, partOf(b.b.getI32Type()), bytes);
  return sum ? arith::AddIOp::create(b.b, b.loc, sum, wide).getResult() : wide;
}

/// Stores the first `words` groups of four bytes.
void Emitter::storeBytes(Value bytes, Index at, int64_t words) {
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
  const int64_t digits = cpu::digitsOf(wordsOfBlock(), block);
  // The largest number whose digits are all 127.
  const double bound = digits == 1 ? 127 : 0x7f7f7f;
  Type real = b.b.getF32Type();
  Value bits = largestOf(from, count);
  Value largest = arith::BitcastOp::create(b.b, b.loc, real, bits);
  // Bounds the bits of the range. The bits of positive floats have their order.
  Value least = integer(
            llvm::bit_cast<int32_t>(float(bound) / support::kMaxBlockFactor)),
        greatest =
            integer(llvm::bit_cast<int32_t>(std::numeric_limits<float>::max()));
  Value range = arith::BitcastOp::create(
      b.b, b.loc, real,
      arith::MinSIOp::create(b.b, b.loc,
                             arith::MaxSIOp::create(b.b, b.loc, bits, least),
                             greatest));
  Value isFinite = arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::sle,
                                         bits, greatest);
  Value most = floatConstant(b, bound);
  // A scale of int8 is that of the definition, to the last bit.
  Value step = digits == 1
                   ? arith::DivFOp::create(b.b, b.loc, range, most).getResult()
                   : arith::MulFOp::create(b.b, b.loc, range,
                                           floatConstant(b, 1 / bound));
  Value scale = arith::SelectOp::create(b.b, b.loc, isFinite, step, largest);
  storeWord(arith::BitcastOp::create(b.b, b.loc, b.b.getI32Type(), scale), to);
  Value factor = arith::DivFOp::create(b.b, b.loc, most, range);
  Index bytes = b.add(to, cpu::roundedHead(digits));
  SmallVector<Value> sums(digits);
  for (int64_t at = 0; at < block; at += kPart) {
    int64_t stored = (block - at) / 4;
    auto wordsOf = [&](int64_t digit) {
      return b.add(bytes, digit * (block / 4) + at / 4);
    };
    if (at >= count) {
      for (int64_t i = 0; i < digits; ++i)
        storeBytes(splatInt(b, partOf(b.b.getI8Type()), 0), wordsOf(i), stored);
      continue;
    }
    Value numbers = round(load(b.add(from, at), count - at), factor, bound);
    for (auto [i, bytes] : llvm::enumerate(splitDigits(numbers, digits))) {
      storeBytes(bytes, wordsOf(i), stored);
      sums[i] = addBytes(bytes, sums[i]);
    }
  }
  // Stores the terms for the zero point.
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value total = vector::ReductionOp::create(b.b, b.loc,
                                              vector::CombiningKind::ADD, sum);
    storeWord(arith::MulIOp::create(b.b, b.loc, total,
                                    integer(int32_t(op.getFactor()))),
              b.add(to, 1 + int64_t(i)));
  }
}

void Emitter::emitRow(ArrayRef<Index> row) {
  int64_t depth = src.shape.back(), block = op.getBlockSize();
  int64_t words = wordsOfBlock();
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
