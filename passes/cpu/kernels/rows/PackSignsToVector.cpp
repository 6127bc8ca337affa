//===- PackSignsToVector.cpp - cpu-pack-signs-to-vector -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs signs of bytes as bits:
//
//     for row
//       for pair of 32 channels
//         u: bytes below the zero point; v: bytes not above it
//         store both, the second word of each xor the first
//         zeros |= u ^ v
//       store zeros
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/Signs.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_PACKSIGNSTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// The bits of 32 channels in both planes.
struct SignPlanes {
  Value u, v;
};

struct Emitter : RowEmitter<cpu::PackSignsOp, Emitter> {
  using RowEmitter::RowEmitter;

  void emitRow(ArrayRef<Index> row);
  SignPlanes read(Index at, int64_t count);
  Value whereByteIs(Value bytes, int64_t value);
  Value join(Index to, Index word, int64_t count, const SignPlanes (&words)[2],
             Value zeros);
  void store(Value word, Index at);
};

struct PackSignsToVectorPass
    : ingot::impl::PackSignsToVectorBase<PackSignsToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::PackSignsOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

/// Returns a word with a bit set for each byte that equals `value`.
Value Emitter::whereByteIs(Value bytes, int64_t value) {
  auto type = cast<VectorType>(bytes.getType());
  Value is = arith::CmpIOp::create(
      b.b, b.loc, arith::CmpIPredicate::eq, bytes,
      splatInt(b, type, int8_t(uint8_t(value))));
  Value word = vector::BitCastOp::create(
      b.b, b.loc, VectorType::get({1}, b.b.getI32Type()), is);
  return vector::ExtractOp::create(b.b, b.loc, word, 0);
}

/// Reads `count` channels, beginning at `src[at]`. Bytes differ from the zero
/// point by at most 1, so one comparison for equality finds a sign.
SignPlanes Emitter::read(Index at, int64_t count) {
  constexpr int64_t kAll = cpu::kSignsOfWord;
  int64_t zero = op.getZeroPoint();
  auto type = VectorType::get({kAll}, b.b.getI8Type());
  Value bytes;
  if (count == kAll) {
    bytes = vector::LoadOp::create(b.b, b.loc, type, src.data, b.get(at));
  } else {
    bytes = vector::MaskedLoadOp::create(
        b.b, b.loc, type, src.data, b.get(at), maskOfFirst(b, kAll, count),
        splatInt(b, type, int8_t(uint8_t(zero + 1))));
  }
  Value positive = whereByteIs(bytes, zero + 1);
  Value all = arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(-1));
  return {whereByteIs(bytes, zero - 1),
          arith::XOrIOp::create(b.b, b.loc, positive, all)};
}

void Emitter::store(Value word, Index at) {
  memref::StoreOp::create(b.b, b.loc, word, output.dst.data, b.get(at));
}

/// Stores `count` words of each plane, from word `word` of the pixel at `to`
/// on. Returns `zeros` with the bits of these words added.
Value Emitter::join(Index to, Index word, int64_t count,
                    const SignPlanes (&words)[2], Value zeros) {
  auto exclusiveOr = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(b.b, b.loc, x, y);
  };
  Index u = b.add(to, word);
  Index v = b.add(u, cpu::signWords(src.shape.back()));
  store(words[0].u, u);
  store(words[0].v, v);
  if (count == 2) {
    store(exclusiveOr(words[0].u, words[1].u), b.add(u, 1));
    store(exclusiveOr(words[0].v, words[1].v), b.add(v, 1));
  }
  for (const SignPlanes &word : ArrayRef(words).take_front(count))
    zeros = arith::OrIOp::create(b.b, b.loc, zeros,
                                 exclusiveOr(word.u, word.v));
  return zeros;
}

void Emitter::emitRow(ArrayRef<Index> row) {
  constexpr int64_t kWord = cpu::kSignsOfWord;
  int64_t channels = src.shape.back(), words = cpu::signWords(channels);
  SmallVector<Index> first(row);
  first.push_back(0);
  Index from = src.at(b, first), to = output.dst.at(b, first);
  Value zeros =
      arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(0));
  auto addPair = [&](Index pair, const Accumulators &before) {
    Index at = b.add(from, b.mul(pair, 2 * kWord));
    SignPlanes both[2] = {read(at, kWord), read(b.add(at, kWord), kWord)};
    return Accumulators{join(to, b.mul(pair, 2), 2, both, before[0])};
  };
  int64_t whole = channels / (2 * kWord), left = channels % (2 * kWord);
  if (whole != 0)
    zeros = forEach(b, 0, whole, {zeros},
                    [&](Value pair, const Accumulators &before) {
                      return addPair(Index(pair), before);
                    })[0];
  if (left != 0) {
    Index at = b.add(from, whole * 2 * kWord);
    SignPlanes last[2];
    last[0] = read(at, std::min(left, kWord));
    if (left > kWord)
      last[1] = read(b.add(at, kWord), left - kWord);
    zeros = join(to, 2 * whole, left > kWord ? 2 : 1, last, zeros);
  }
  store(zeros, b.add(to, 2 * words));
}
