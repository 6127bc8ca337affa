//===- ConvZeroPoint.cpp - compensation for zero points -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compensation for the zero point of src. The result is the sum of (src - zero
// point) * weights over the taps within src. But instructions compute the sum
// of src * weights. Each row of taps is multiplied as a whole: taps in the
// padding at its ends read a pixel of zero points. The difference between the
// two sums, the compensation, is then a constant for each row of taps. Rows of
// taps in the padding are skipped together with their compensation.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/kernels/conv/ConvKernel.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Value ConvKernel::zeroPointPixel() {
  if (zeroPoints)
    return zeroPoints;
  Type element = srcElement();
  int64_t size = llvm::alignTo(channels, amxRowElements(element));
  zeroPoints = createScratch(b, size, element);
  // Fills the buffer where it is created, so that all tiles find it filled.
  OpBuilder::InsertionGuard guard(b.b);
  b.b.setInsertionPointAfterValue(zeroPoints);
  fillRun(b, zeroPoints, 0, size, op.getSrcZeroPoint());
  return zeroPoints;
}

Accumulators ConvKernel::compensationOf(const Tile &tile,
                                        const ColumnAt &columnAt,
                                        std::optional<ArrayRef<Index>> row) {
  if (!op.getCompensation())
    return {};
  Flat compensation(b, op.getCompensation());
  SmallVector<Index> weightsAt = weightsOf(columnAt);
  Index column = weightsAt[outer + 3];
  auto type = VectorType::get({tile.lanes}, b.b.getI32Type());
  Accumulators start(tile.vectors, splatInt(b, type, 0));
  auto addTaps = [&](ArrayRef<Index> taps, const Accumulators &sums) {
    SmallVector<Index> at = {weightsAt[0]};
    llvm::append_range(at, taps);
    Accumulators next;
    for (auto [v, sum] : llvm::enumerate(sums)) {
      at.push_back(b.add(column, int64_t(v) * tile.lanes));
      Value part =
          vector::LoadOp::create(b.b, b.loc, type, compensation.data,
                                 b.get(compensation.at(b, at)));
      at.pop_back();
      next.push_back(arith::AddIOp::create(b.b, b.loc, sum, part));
    }
    return next;
  };
  if (!row)
    return window.sumOuterTaps(b, start, addTaps);
  return window.sumOuter(
      b, window.originOf(b, *row, 0), start,
      [&](ArrayRef<Index>, ArrayRef<Index> taps, const Accumulators &sums) {
        return addTaps(taps, sums);
      });
}
