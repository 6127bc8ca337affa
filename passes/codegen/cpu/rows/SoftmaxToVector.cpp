//===- SoftmaxToVector.cpp - cpu-softmax-to-vector ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for row
//   maximum
//   powers of e: summed up, and stored in dst unless that is of integers or the
//     logarithm is wanted
//   powers over the sum, or x - max - log(sum); epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/codegen/cpu/Passes.h"
#include "passes/codegen/cpu/rows/Rows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_SOFTMAXTOVECTOR
#include "passes/codegen/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter : RowEmitter<cpu::SoftmaxOp, Emitter> {
  using RowEmitter::RowEmitter;

  void emitRow(ArrayRef<Index> row);
};

struct SoftmaxToVectorPass
    : ingot::impl::SoftmaxToVectorBase<SoftmaxToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::SoftmaxOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emitRow(ArrayRef<Index> row) {
  SmallVector<Index> first(row);
  first.push_back(0);
  Index from = src.at(b, first), to = output.dst.at(b, first);
  Index length = dimOf(b, op.getSrc(), row.size());
  auto load = [&](IndexBuilder &b, const Piece &piece) {
    return loadPiece(b, lanes, src.data, b.add(from, piece.at), piece.mask);
  };
  Value max =
      splat(b, lanes, foldRow(b, plan.target, length, FoldKind::max, load));
  auto shifted = [&](IndexBuilder &b, const Piece &piece) -> Value {
    return arith::SubFOp::create(b.b, b.loc, load(b, piece), max);
  };
  // Dst holds the powers until their sum is known, unless it is of integers.
  Type element = cast<MemRefType>(output.dst.data.getType()).getElementType();
  bool isKept = !op.getLog() && isa<FloatType>(element);
  auto power = [&](IndexBuilder &b, const Piece &piece) -> Value {
    Value power = math::ExpOp::create(b.b, b.loc, shifted(b, piece));
    if (!isKept)
      return power;
    Value at = b.get(b.add(to, piece.at)), stored = power;
    if (element.isBF16())
      stored = arith::TruncFOp::create(
          b.b, b.loc, VectorType::get({lanes}, element), power);
    if (piece.mask)
      vector::MaskedStoreOp::create(b.b, b.loc, output.dst.data, at, piece.mask,
                                    stored);
    else
      vector::StoreOp::create(b.b, b.loc, stored, output.dst.data, at);
    return power;
  };
  Value sum = foldRow(b, plan.target, length, FoldKind::sum, power);
  Value factor, shift;
  if (op.getLog())
    shift = splat(b, lanes, math::LogOp::create(b.b, b.loc, sum));
  else
    factor = splat(b, lanes,
                   arith::DivFOp::create(b.b, b.loc, floatConstant(b, 1), sum));
  forEachPiece(
      b, plan.target, length, [&](IndexBuilder &b, const Piece &piece) {
        Value y;
        if (op.getLog())
          y = arith::SubFOp::create(b.b, b.loc, shifted(b, piece), shift);
        else
          y = arith::MulFOp::create(
              b.b, b.loc,
              isKept ? loadPiece(b, lanes, output.dst.data,
                                 b.add(to, piece.at), piece.mask)
                     : power(b, piece),
              factor);
        SmallVector<Index> coordinates(row);
        coordinates.push_back(piece.at);
        storeVector(b, output, y, Place{coordinates, lanes, lanes, piece.mask});
      });
}
