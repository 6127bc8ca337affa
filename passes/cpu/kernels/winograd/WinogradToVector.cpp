//===- WinogradToVector.cpp - cpu-winograd-to-vector ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Winograd convolutions of f32; see WinogradEmitter.h.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/winograd/WinogradEmitter.h"
#include "passes/cpu/products/WidenedWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_WINOGRADTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

/// Emits Winograd convolutions of f32.
class Emitter : public WinogradEmitter {
public:
  Emitter(OpBuilder &builder, cpu::WinogradConvOp op)
      : WinogradEmitter(builder, op, WinogradPlan(op),
                        {op.getSrc(), op.getPads(), builder.getF32Type(),
                         cpu::PackedWeights(op.getWeights()).depth}),
        weights(b, op.getWeights()), channels(plan.weights.depth) {}

private:
  void forEachLoad(function_ref<void(LoadFn load)> body) override;
  Value makePadding() override;
  void multiply(const Tile &tile, Index columnTile, Index rowTiles) override;

  Flat weights;
  int64_t channels;
  std::optional<WidenedWeights> widened;
};

struct WinogradToVectorPass
    : ingot::impl::WinogradToVectorBase<WinogradToVectorPass> {
  void runOnOperation() override {
    if (failed(emitKernels<cpu::WinogradConvOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

// Loads vectors of channels; the last vector may have fewer lanes.
void Emitter::forEachLoad(function_ref<void(LoadFn load)> body) {
  int64_t lanes = plan.target.lanes, rest = channels % lanes;
  auto loadFrom = [&](Index channel, const Tile &tile) {
    body([&](Value data, Index at) -> SmallVector<ChannelSlice> {
      return {{loadPart(b, tile, data, b.add(at, channel)), channel}};
    });
  };
  Tile tile = fullTile(plan.target, {1, 1});
  forEach(b, 0, channels - rest, lanes,
          [&](Value channel) { loadFrom(Index(channel), tile); });
  if (rest == 0)
    return;
  tile.lastLanes = rest;
  loadFrom(channels - rest, tile);
}

Value Emitter::makePadding() {
  Value zeros = createScratch(b, pitch, b.b.getF32Type());
  Value zero = arith::ConstantOp::create(
      b.b, b.loc,
      b.b.getZeroAttr(
          VectorType::get({plan.target.lanes}, b.b.getF32Type())));
  forEach(b, 0, pitch, plan.target.lanes,
          [&](Value at) { store(zero, zeros, Index(at)); });
  return zeros;
}

void Emitter::multiply(const Tile &tile, Index columnTile, Index rowTiles) {
  int64_t columns = tileColumns();
  Index panel = b.div(columnTile, plan.tilesPerPanel);
  Index column = b.mul(b.rem(columnTile, plan.tilesPerPanel), columns);
  const bool isWidened =
      WidenedWeights::pays(plan.target, tile, channels, plan.blockRows);
  if (isWidened && !widened)
    widened.emplace(b, fullTile(plan.target, plan.tile), channels);
  forEach(b, 0, plan.transform.positions(), 1, [&](Value point) {
    TileWeights packed{tile, weights.data,
                       weights.at(b, {panel, Index(point), 0, column}),
                       plan.panel};
    forEach(b, 0, rowTiles, 1, [&](Value number) {
      Index row = b.mul(Index(number), tile.rows);
      SrcRows rows(b, pixels, pixelsAt(Index(point), row), pitch, tile.rows);
      auto multiply = [&](const TileWeights &used) {
        return multiplyAdd(b, used, rows, channels, zeroAccumulators(b, tile));
      };
      Accumulators products =
          isWidened ? widened->sum(b, packed, Index(number), multiply)
                    : multiply(packed);
      storeSums(tile, Index(point), row, products);
    });
  });
}
