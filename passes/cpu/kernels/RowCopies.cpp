//===- RowCopies.cpp - copies of rows for products ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/products/Products.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

void cpu::copyRuns(IndexBuilder &b, int64_t lanes, const Runs &from,
                   const Runs &to, int64_t count) {
  auto copy = [&](Index offset, int64_t valid) {
    Tile part{1, 1, lanes, valid, false};
    for (auto [source, target] : llvm::zip_equal(from.at, to.at)) {
      Value piece = loadPart(b, part, from.data, b.add(source, offset));
      if (getElementTypeOrSelf(to.data).isF32())
        piece = widenFloats(b, piece);
      vector::StoreOp::create(b.b, b.loc, piece, to.data,
                              b.get(b.add(target, offset)));
    }
  };
  forEach(b, 0, count / lanes, 1,
          [&](Value i) { copy(b.mul(Index(i), lanes), lanes); });
  int64_t rest = count % lanes;
  if (rest == 0)
    return;
  // Copies a vector that ends with the run. It overlaps elements that are
  // already copied.
  if (count > lanes)
    copy(count - lanes, lanes);
  else
    copy(0, rest);
}

void cpu::copyAsInt16(IndexBuilder &b, int64_t lanes, const Runs &from,
                      const Runs &to, int64_t odd, int64_t count) {
  Type byte = b.b.getI8Type(), word = b.b.getI16Type(),
       group = b.b.getI32Type();
  int64_t groups = count / 4;
  auto copy = [&](Index first, int64_t size) {
    auto pairsType = VectorType::get({2 * size}, word);
    auto store = [&](Value pairs, Index at) {
      Value whole = vector::BitCastOp::create(
          b.b, b.loc, VectorType::get({size}, group), pairs);
      vector::StoreOp::create(b.b, b.loc, whole, to.data, b.get(at));
    };
    for (auto [source, target] : llvm::zip_equal(from.at, to.at)) {
      Value bytes = vector::LoadOp::create(
          b.b, b.loc, VectorType::get({4 * size}, byte), from.data,
          b.get(b.add(source, b.mul(first, 4))));
      Value pairs =
          vector::BitCastOp::create(b.b, b.loc, pairsType, bytes);
      Index even = b.add(target, first);
      store(arith::AndIOp::create(b.b, b.loc, pairs,
                                  splatInt(b, pairsType, 0xff)),
            even);
      store(
          arith::ShRUIOp::create(b.b, b.loc, pairs, splatInt(b, pairsType, 8)),
          b.add(even, odd));
    }
  };
  forEach(b, 0, groups / lanes, 1,
          [&](Value i) { copy(b.mul(Index(i), lanes), lanes); });
  // Copies the rest in vectors of decreasing size, so that nothing behind the
  // run is read.
  int64_t done = groups / lanes * lanes;
  for (int64_t size = lanes / 2; size > 0; size /= 2)
    if (groups - done >= size) {
      copy(done, size);
      done += size;
    }
  if (count % 4 == 0)
    return;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b.b, b.loc,
                                     b.b.getI32IntegerAttr(int32_t(value)));
  };
  for (auto [source, target] : llvm::zip_equal(from.at, to.at)) {
    Value rest = loadGroup(b, from.data, b.add(source, 4 * groups), count % 4);
    for (int64_t i = 0; i < 2; ++i) {
      if (i == 1)
        rest = arith::ShRUIOp::create(b.b, b.loc, rest, constant(8));
      Value part = arith::AndIOp::create(b.b, b.loc, rest,
                                         constant(0x00ff00ff));
      memref::StoreOp::create(b.b, b.loc, part, to.data,
                              b.get(b.add(target, groups + i * odd)));
    }
  }
}

int64_t cpu::copiedAtOnce(int64_t depth, int64_t most, int64_t group) {
  if (depth <= most)
    return depth;
  for (int64_t parts = llvm::divideCeil(depth, most);
       2 * (depth / parts) >= most; ++parts)
    if (depth % parts == 0 && depth / parts % group == 0)
      return depth / parts;
  return most;
}
