//===- SignProducts.cpp - sums of products of signs -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/product/SignProducts.h"

#include "passes/codegen/cpu/product/BytePairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

static TargetInfo targetOf(IndexBuilder &b) {
  return TargetInfo::of(b.b.getInsertionBlock()->getParentOp());
}

static Value exclusiveOr(IndexBuilder &b, Value x, Value y) {
  return arith::XOrIOp::create(b.b, b.loc, x, y);
}

/// Of bits `x` and `waiting`, and of a third which makes `odd` of the three,
/// whether two or three are set: those of `x` where the others are the same,
/// else those of `waiting`.
static Value carry(IndexBuilder &b, Value x, Value waiting, Value odd) {
  auto type = cast<VectorType>(x.getType());
  if (type.getNumElements() == 16) {
    // Bit 4 x + 2 waiting + odd of the number is the result.
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

/// sum + the bits that are set in each word.
static Value addBits(IndexBuilder &b, const TargetInfo &target, Value words,
                     Value sum) {
  auto type = cast<VectorType>(words.getType());
  if (target.hasBitCount)
    return arith::AddIOp::create(
        b.b, b.loc, sum, math::CtPopOp::create(b.b, b.loc, words));
  // Of bytes, by tables of 16, and four of them added up.
  auto byteType =
      VectorType::get({type.getNumElements() * 4}, b.b.getI8Type());
  Value bytes = math::CtPopOp::create(
      b.b, b.loc, vector::BitCastOp::create(b.b, b.loc, byteType, words));
  Value ones = splatInt(b, byteType, 1);
  if (!target.hasVNNI)
    return addPairs(b, bytes, ones, sum);
  return LLVM::CallIntrinsicOp::create(
             b.b, b.loc, type,
             b.b.getStringAttr("llvm.x86.avx512.vpdpbusd.512"),
             ValueRange{sum, bytes, ones})
      .getResults();
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

Accumulators codegen::startCounts(IndexBuilder &b, const Tile &tile) {
  Accumulators counts = zeroAccumulators(b, tile);
  llvm::append_range(counts, zeroAccumulators(b, tile));
  return counts;
}

/// Adds word `word` of all rows and the next one, or that alone.
static void countStep(IndexBuilder &b, const Tile &tile,
                      const TargetInfo &target, const SrcRows &rows,
                      Value weights, Index weightsAt, int64_t panel, Index word,
                      bool isAlone, Accumulators &counts) {
  int64_t count = tile.rows * tile.vectors, words = isAlone ? 1 : 2;
  auto type = VectorType::get({tile.lanes}, b.b.getI32Type());
  SmallVector<SmallVector<Value>> factors(words);
  for (int64_t i = 0; i < words; ++i)
    for (int64_t v = 0; v < tile.vectors; ++v)
      factors[i].push_back(vector::LoadOp::create(
          b.b, b.loc, type, weights,
          b.get(b.add(b.add(weightsAt, b.mul(b.add(word, i), panel)),
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
      Value &pairs = counts[r * tile.vectors + v];
      Value &waiting = counts[count + r * tile.vectors + v];
      Value differs = exclusiveOr(b, row[0], factors[0][v]);
      Value odd, both;
      if (isAlone) {
        odd = exclusiveOr(b, waiting, differs);
        both = arith::AndIOp::create(b.b, b.loc, waiting, differs);
      } else {
        // The second words are xor the first ones already.
        odd = exclusiveOr(b, exclusiveOr(b, row[1], factors[1][v]), waiting);
        both = carry(b, differs, waiting, odd);
      }
      pairs = addBits(b, target, both, pairs);
      waiting = odd;
    }
  }
}

Accumulators codegen::countSigns(IndexBuilder &b, const Tile &tile,
                                 const SrcRows &rows, Value weights,
                                 Index weightsAt, int64_t panel, int64_t words,
                                 const Accumulators &start) {
  TargetInfo target = targetOf(b);
  Accumulators counts = start;
  auto step = [&](Index word, bool isAlone) {
    countStep(b, tile, target, rows, weights, weightsAt, panel, word, isAlone,
              counts);
  };
  if (words >= 2)
    counts = forEach(b, 0, words / 2, counts,
                     [&](Value i, const Accumulators &before) {
                       counts = before;
                       step(b.mul(Index(i), 2), /*isAlone=*/false);
                       return counts;
                     });
  if (words % 2 != 0)
    step(words - 1, /*isAlone=*/true);
  return counts;
}

Accumulators codegen::numbersOf(IndexBuilder &b, const Tile &tile,
                                const Accumulators &counts) {
  TargetInfo target = targetOf(b);
  int64_t count = tile.rows * tile.vectors;
  Accumulators numbers;
  for (int64_t i = 0; i < count; ++i) {
    Value twice = arith::AddIOp::create(b.b, b.loc, counts[i], counts[i]);
    numbers.push_back(addBits(b, target, counts[count + i], twice));
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value codegen::noZeros(IndexBuilder &b) {
  return arith::ConstantOp::create(b.b, b.loc, b.b.getI32IntegerAttr(0));
}

Value codegen::joinZeros(IndexBuilder &b, Value zeros, Value data, Index at) {
  Value word = memref::LoadOp::create(b.b, b.loc, data, b.get(at));
  return arith::OrIOp::create(b.b, b.loc, zeros, word);
}

Accumulators
codegen::sumSigns(IndexBuilder &b, const Tile &tile, Value zeros,
                  ArrayRef<Index> all,
                  function_ref<Accumulators(int64_t plane)> count) {
  Accumulators first = numbersOf(b, tile, count(0));
  Value hasZeros = arith::CmpIOp::create(b.b, b.loc, arith::CmpIPredicate::ne,
                                         zeros, noZeros(b));
  auto choice = scf::IfOp::create(
      b.b, b.loc, TypeRange(ValueRange(first)), hasZeros,
      /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b.b);
    b.b.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b.b, b.loc, numbersOf(b, tile, count(1)));
    b.b.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b.b, b.loc, first);
  }
  auto type = VectorType::get({tile.lanes}, b.b.getI32Type());
  Accumulators sums;
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value products = arith::IndexCastOp::create(b.b, b.loc, b.b.getI32Type(),
                                                b.get(all[r]));
    Value wide = vector::BroadcastOp::create(b.b, b.loc, type, products);
    for (int64_t v = 0; v < tile.vectors; ++v) {
      int64_t i = r * tile.vectors + v;
      Value differ = arith::AddIOp::create(b.b, b.loc, first[i],
                                           choice.getResult(i));
      sums.push_back(arith::SubIOp::create(b.b, b.loc, wide, differ));
    }
  }
  return sums;
}
