//===- RowNormToVector.cpp - cpu-row-norm-to-vector -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalization of rows:
//
//     for row
//       mean (but for rms)
//       mean of (x - mean)^2
//       (x - mean) / sqrt(that + epsilon); epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_ROWNORMTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

struct Emitter : RowEmitter<cpu::RowNormOp, Emitter> {
  using RowEmitter::RowEmitter;

  void emitRow(ArrayRef<Index> row);
};

struct RowNormToVectorPass
    : ingot::impl::RowNormToVectorBase<RowNormToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::RowNormOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emitRow(ArrayRef<Index> row) {
  SmallVector<Index> first(row);
  first.push_back(0);
  Index from = src.at(b, first), length = dimOf(b, op.getSrc(), row.size());
  Value count = toFloat(b, length), mean;
  auto load = [&](IndexBuilder &b, const Piece &piece) {
    return loadPiece(b, lanes, src.data, b.add(from, piece.at), piece.mask);
  };
  auto centered = [&](IndexBuilder &b, const Piece &piece) -> Value {
    Value x = load(b, piece);
    return mean ? Value(arith::SubFOp::create(b.b, b.loc, x, mean)) : x;
  };
  auto average = [&](PieceFn element) -> Value {
    Value sum = foldRow(b, plan.target, length, FoldKind::sum, element);
    return arith::DivFOp::create(b.b, b.loc, sum, count);
  };
  if (!op.getRms())
    mean = splat(b, lanes, average(load));
  Value variance = average([&](IndexBuilder &b, const Piece &piece) -> Value {
    Value x = centered(b, piece);
    return squareVector(b, x);
  });
  Value shifted = arith::AddFOp::create(
      b.b, b.loc, variance,
      floatConstant(b, op.getEpsilon().convertToDouble()));
  Value root = math::SqrtOp::create(b.b, b.loc, shifted);
  Value factor = splat(
      b, lanes, arith::DivFOp::create(b.b, b.loc, floatConstant(b, 1), root));
  forEachPiece(
      b, plan.target, length, [&](IndexBuilder &b, const Piece &piece) {
        Value y = arith::MulFOp::create(b.b, b.loc, centered(b, piece), factor);
        SmallVector<Index> coordinates(row);
        coordinates.push_back(piece.at);
        storeVector(b, output, y,
                    VectorAt{coordinates, lanes, lanes, piece.mask});
      });
}
