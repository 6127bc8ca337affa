//===- TablesToVector.cpp - cpu-tables-to-vector --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks up bytes in tables (see ByteLookup.h):
//
//     for all loops but the innermost
//       for each vector of bytes of the innermost: look all of them up
//       for the rest: under a mask, or 16 bytes and then one at a time
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/ByteLookup.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/support/ByteTables.h"
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_TABLESTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, linalg::GenericOp op)
      : b{builder, op.getLoc()}, op(op), table(support::getByteTable(op)),
        target(TargetInfo::of(op)) {}

  void emit();
  void emitRow();
  void emitVector(const ByteLookup &lookup, Index at, Value mask = {});
  void emitByte(Index at);
  SmallVector<Value> place(Index at);

  Value src() { return op->getOperand(0); }
  Value dst() { return op->getOperand(1); }

  IndexBuilder b;
  linalg::GenericOp op;
  Value table;
  TargetInfo target;
  SmallVector<Value> outer;
};

struct TablesToVectorPass
    : ingot::impl::TablesToVectorBase<TablesToVectorPass> {
  using TablesToVectorBase::TablesToVectorBase;
  void runOnOperation() override;
};

} // namespace

SmallVector<Value> Emitter::place(Index at) {
  SmallVector<Value> coordinates(outer);
  coordinates.push_back(b.get(at));
  return coordinates;
}

void Emitter::emitVector(const ByteLookup &lookup, Index at, Value mask) {
  auto type = VectorType::get({lookup.bytes()}, b.b.getI8Type());
  SmallVector<Value> from = place(at);
  if (!mask) {
    Value bytes = vector::LoadOp::create(b.b, b.loc, type, src(), from);
    vector::StoreOp::create(b.b, b.loc, lookup.emit(b, bytes), dst(), from);
    return;
  }
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  Value bytes = vector::MaskedLoadOp::create(b.b, b.loc, type, src(), from,
                                             mask, zero);
  vector::MaskedStoreOp::create(b.b, b.loc, dst(), from, mask,
                                lookup.emit(b, bytes));
}

void Emitter::emitByte(Index at) {
  SmallVector<Value> from = place(at);
  Value byte = memref::LoadOp::create(b.b, b.loc, src(), from);
  Value entry = arith::IndexCastUIOp::create(b.b, b.loc, b.b.getIndexType(),
                                             byte);
  Value found = memref::LoadOp::create(b.b, b.loc, table, entry);
  memref::StoreOp::create(b.b, b.loc, found, dst(), from);
}

void Emitter::emitRow() {
  Index length = dimOf(b, dst(), outer.size());
  auto wholeOf = [&](int64_t size) {
    return b.sub(length, b.rem(length, size));
  };
  ByteLookup wide = ByteLookup::widest(b, target, table);
  int64_t size = wide.bytes();
  Index whole = wholeOf(size);
  forEach(b, 0, whole, size, [&](Value at) { emitVector(wide, Index(at)); });
  if (!length.value && length.constant % size == 0)
    return;
  // Targets with masks of bytes have vectors of 64 bytes.
  if (ByteLookup::hasMasks(target)) {
    Index rest = b.rem(length, size);
    auto emitRest = [&] {
      emitVector(wide, whole, maskOfFirst(b, size, rest));
    };
    if (length.value)
      b.branch(b.compare(arith::CmpIPredicate::ne, rest, 0), emitRest);
    else
      emitRest();
    return;
  }
  ByteLookup narrow = ByteLookup::narrow(b, table);
  Index quarters = wholeOf(narrow.bytes());
  forEach(b, whole, quarters, narrow.bytes(),
          [&](Value at) { emitVector(narrow, Index(at)); });
  forEach(b, quarters, length, 1, [&](Value at) { emitByte(Index(at)); });
}

void Emitter::emit() {
  OpBuilder::InsertionGuard guard(b.b);
  for (int64_t i = 0, e = op.getNumLoops() - 1; i < e; ++i) {
    auto loop = scf::ForOp::create(b.b, b.loc, b.get(0),
                                   b.get(dimOf(b, dst(), i)), b.get(1));
    outer.push_back(loop.getInductionVar());
    b.b.setInsertionPointToStart(loop.getBody());
  }
  emitRow();
}

/// Returns true if the op maps rows of bytes to rows of bytes by a table.
static bool isFor(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumLoops() == 0 ||
      !support::getByteTable(op))
    return false;
  auto table = cast<MemRefType>(support::getByteTable(op).getType());
  return llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); }) &&
         support::isRow(cast<MemRefType>(op->getOperand(0).getType())) &&
         support::isRow(cast<MemRefType>(op->getOperand(1).getType())) &&
         support::isRow(table);
}

void TablesToVectorPass::runOnOperation() {
  numWritten += emitInPlace<linalg::GenericOp, Emitter>(getOperation(), isFor);
}
