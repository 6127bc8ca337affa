//===- SignProducts.cpp - sums of products of signs -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/SignProducts.h"

#include "passes/cpu/products/PairProducts.h"
#include "passes/cpu/products/ProductKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static Value exclusiveOr(IndexBuilder &b, Value x, Value y) {
  return arith::XOrIOp::create(b.b, b.loc, x, y);
}

/// Returns the majority of three bits: `x`, `waiting` and a third bit. `odd` is
/// the xor of all three. The result is `x` where the other two bits are equal,
/// else `waiting`.
static Value carry(IndexBuilder &b, Value x, Value waiting, Value odd) {
  auto type = cast<VectorType>(x.getType());
  if (type.getNumElements() == 16) {
    // Bit `4 x + 2 waiting + odd` of the table is the result.
    constexpr int32_t kTable = 0b11010100;
    Value table = LLVM::ConstantOp::create(
        b.b, b.loc, b.b.getI32Type(), b.b.getI32IntegerAttr(kTable));
    return LLVM::CallIntrinsicOp::create(
               b.b, b.loc, type,
               b.b.getStringAttr("llvm.x86.avx512.pternlog.d.512"),
               ValueRange{x, waiting, odd, table})
        .getResults();
  }
  Value changed = exclusiveOr(b, waiting, odd);
  return exclusiveOr(b, x,
                     arith::AndIOp::create(b.b, b.loc, changed,
                                           exclusiveOr(b, x, waiting)));
}

/// Returns the number of bits set in each byte, or in each word. The count of a
/// word is in its first byte. Counts of bytes are looked up in tables of 16.
static Value countBits(IndexBuilder &b, const TargetInfo &target, Value words) {
  auto byteType = VectorType::get(
      {cast<VectorType>(words.getType()).getNumElements() * 4},
      b.b.getI8Type());
  auto count = [&](Value value) -> Value {
    return math::CtPopOp::create(b.b, b.loc, value);
  };
  auto asBytes = [&](Value value) -> Value {
    return vector::BitCastOp::create(b.b, b.loc, byteType, value);
  };
  return target.hasBitCount ? asBytes(count(words)) : count(asBytes(words));
}

/// Returns sum + factor * the four bytes of each word.
static Value addCounts(IndexBuilder &b, const TargetInfo &target, Value bytes,
                       int64_t factor, Value sum) {
  Value factors = splatInt(b, cast<VectorType>(bytes.getType()), factor);
  return target.hasVNNI ? multiplyAddGroupsOfFour(b, bytes, factors, sum)
                        : addPairs(b, bytes, factors, sum);
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

/// The change of a sum by two products that are -1 instead of 1.
static constexpr int64_t kTwoDiffer = -4;

namespace {
/// A word and the next word, or that word alone.
struct SignWord {
  Index word;
  bool isAlone;
};
} // namespace

/// Adds the words of all rows to `counts`. Without VNNI, adds them to the bytes
/// of `waitingCounts`, because adding to `counts` takes several instructions.
static void countStep(IndexBuilder &b, const TileWeights &weights,
                      const SrcRows &rows, SignWord at, Accumulators &counts,
                      Accumulators &waitingCounts) {
  const Tile &tile = weights.tile;
  const TargetInfo target = targetOf(b);
  auto [word, isAlone] = at;
  int64_t count = tile.rows * tile.vectors, words = isAlone ? 1 : 2;
  auto type = VectorType::get({tile.lanes}, b.b.getI32Type());
  SmallVector<SmallVector<Value>> factors(words);
  for (int64_t i = 0; i < words; ++i)
    for (int64_t v = 0; v < tile.vectors; ++v)
      factors[i].push_back(vector::LoadOp::create(
          b.b, b.loc, type, weights.data,
          b.get(b.add(b.add(weights.at, b.mul(b.add(word, i), weights.panel)),
                      v * tile.lanes))));
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (!rows.at[r])
      continue;
    SmallVector<Value> row;
    for (int64_t i = 0; i < words; ++i) {
      Value scalar = memref::LoadOp::create(
          b.b, b.loc, rows.dataOf[r],
          b.get(b.add(b.add(*rows.at[r], word), i)));
      row.push_back(vector::BroadcastOp::create(b.b, b.loc, type, scalar));
    }
    for (int64_t v = 0; v < tile.vectors; ++v) {
      Value &sum = counts[r * tile.vectors + v];
      Value &waiting = counts[count + r * tile.vectors + v];
      Value differs = exclusiveOr(b, row[0], factors[0][v]);
      Value odd, both;
      if (isAlone) {
        odd = exclusiveOr(b, waiting, differs);
        both = arith::AndIOp::create(b.b, b.loc, waiting, differs);
      } else {
        // The second word of a pair is stored xor-ed with the first word. The
        // result is thus the xor of `waiting` and of the differences of both
        // words.
        odd = exclusiveOr(b, exclusiveOr(b, row[1], factors[1][v]), waiting);
        both = carry(b, differs, waiting, odd);
      }
      waiting = odd;
      Value bits = countBits(b, target, both);
      // Adds the counts at once with VNNI, which multiplies and adds in one
      // instruction, as fast as an addition.
      if (target.hasVNNI) {
        sum = addCounts(b, target, bits, kTwoDiffer, sum);
        continue;
      }
      Value &bytes = waitingCounts[r * tile.vectors + v];
      bytes = bytes ? arith::AddIOp::create(b.b, b.loc, bytes, bits) : bits;
    }
  }
}

/// The number of pairs of words that are counted without a branch. The count of
/// a byte is at most 8 for each pair, and for a last single word.
static constexpr int64_t kUnrolledPairs = 4;
static_assert(8 * (kUnrolledPairs + 1) * -2 * kTwoDiffer <= INT16_MAX,
              "two counts of bytes are added up in 16 bits");

Accumulators cpu::countSigns(IndexBuilder &b, const TileWeights &weights,
                             const SrcRows &rows, int64_t words,
                             const Accumulators &start) {
  TargetInfo target = targetOf(b);
  Accumulators counts = start, waitingCounts(start.size() / 2);
  auto step = [&](Index word, bool isAlone) {
    countStep(b, weights, rows, {word, isAlone}, counts, waitingCounts);
  };
  auto addWaiting = [&] {
    for (auto [sum, bytes] : llvm::zip(counts, waitingCounts))
      if (bytes)
        sum = addCounts(b, target, std::exchange(bytes, Value()), kTwoDiffer,
                        sum);
  };
  // Puts several steps in each iteration. A step may leave the sums in other
  // registers; the loop would then copy them after every step.
  int64_t pairs = words / 2, block = std::min(kUnrolledPairs, pairs);
  if (pairs != 0)
    counts = forEach(b, 0, pairs / block, counts,
                     [&](Value i, const Accumulators &before) {
                       counts = before;
                       Index first = b.mul(Index(i), 2 * block);
                       for (int64_t pair = 0; pair < block; ++pair)
                         step(b.add(first, 2 * pair), /*isAlone=*/false);
                       addWaiting();
                       return counts;
                     });
  for (int64_t pair = pairs - pairs % std::max<int64_t>(block, 1);
       pair < pairs; ++pair)
    step(2 * pair, /*isAlone=*/false);
  if (words % 2 != 0)
    step(words - 1, /*isAlone=*/true);
  addWaiting();
  return counts;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value cpu::noZeros(IndexBuilder &b) {
  return arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(0));
}

Value cpu::joinZeros(IndexBuilder &b, Value zeros, Value data, Index at) {
  Value word = memref::LoadOp::create(b.b, b.loc, data, b.get(at));
  return arith::OrIOp::create(b.b, b.loc, zeros, word);
}

/// Returns the initial accumulators: sums as if all products were 1, then zeros
/// for the waiting bits.
static Accumulators startSums(IndexBuilder &b, const Tile &tile,
                              ArrayRef<Index> all) {
  auto type = VectorType::get({tile.lanes}, b.b.getI32Type());
  Accumulators sums;
  for (Index each : all) {
    Value products = arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(),
                                                b.get(each));
    sums.append(tile.vectors,
                vector::BroadcastOp::create(b.b, b.loc, type, products));
  }
  llvm::append_range(sums, zeroAccumulators(b, tile));
  return sums;
}

/// Subtracts the waiting bits from the sums.
static Accumulators finishSums(IndexBuilder &b, const Accumulators &counts) {
  TargetInfo target = targetOf(b);
  size_t count = counts.size() / 2;
  Accumulators sums;
  for (size_t i = 0; i < count; ++i)
    sums.push_back(addCounts(b, target,
                             countBits(b, target, counts[count + i]), -2,
                             counts[i]));
  return sums;
}

Accumulators cpu::sumSigns(IndexBuilder &b, const Tile &tile, Value zeros,
                           ArrayRef<Index> all, CountSigns count) {
  Accumulators start = startSums(b, tile, all);
  Accumulators sums = finishSums(b, count(0, start));
  if (!zeros)
    return sums;
  Value hasZeros = arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::ne,
                                         zeros, noZeros(b));
  return updateIf(b, hasZeros, sums, [&] {
    Accumulators means;
    for (auto [u, v] :
         llvm::zip_equal(sums, finishSums(b, count(1, start)))) {
      Value both = arith::AddIOp::create(b.b, b.loc, u, v);
      Value one = splatInt(b, cast<VectorType>(u.getType()), 1);
      means.push_back(arith::ShRSIOp::create(b.b, b.loc, both, one));
    }
    return means;
  });
}

Accumulators cpu::sumSigns(IndexBuilder &b, const TileWeights &weights,
                           const SignRows &rows) {
  const Tile &tile = weights.tile;
  auto [src, first, stride, signs] = rows;
  int64_t words = cpu::signWords(signs);
  Value zeros;
  if (cpu::planesOf(signs, src.shape.back()) == 2) {
    zeros = noZeros(b);
    for (int64_t r = 0; r < tile.rows; ++r)
      zeros = joinZeros(b, zeros, src.data,
                        b.add(b.add(first, b.mul(stride, r)), 2 * words));
  }
  auto count = [&](int64_t plane, const Accumulators &start) {
    SrcRows ofPlane(b, rows.src.data, b.add(rows.first, plane * words),
                    rows.stride, tile.rows);
    return countSigns(b, weights, ofPlane, words, start);
  };
  return sumSigns(b, tile, zeros, SmallVector<Index>(tile.rows, signs), count);
}

const ProductKernel &cpu::signsKernel() {
  llvm_unreachable("signs are counted over whole rows");
}
