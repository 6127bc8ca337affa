//===- FuseRecurrent.cpp - nn-fuse-recurrent ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/kernel/RecurrentDirections.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace ingot {
#define GEN_PASS_DEF_FUSERECURRENT
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using kernel::RecurrentLoop;

/// The number of floats in a cache line, by which a row of sums is padded.
/// Without padding, rows of a power of two would all fall into one set of the
/// first-level cache.
static constexpr int64_t kLineFloats = 16;

static constexpr kernel::RecurrentBuilder kBuilder{
    [](nn::MatMulOp product) -> Reason {
      if (isBF16(product))
        return "has products of bf16";
      return cpu::whyNotToCpu(product);
    },
    [](OpBuilder &builder, Location loc, ValueRange values) {
      cpu::YieldOp::create(builder, loc, values);
    }};

namespace {

struct FuseRecurrentPass : ingot::impl::FuseRecurrentBase<FuseRecurrentPass> {
  void runOnOperation() override;
  void fuse(ArrayRef<RecurrentLoop *> directions);
};

} // namespace

void FuseRecurrentPass::fuse(ArrayRef<RecurrentLoop *> directions) {
  RecurrentLoop &model = *directions.front();
  OpBuilder b(directions.back()->loop);
  SmallVector<Value> weights, sums;
  int64_t room = (model.reset.empty() ? 0 : model.hidden) + kLineFloats;
  SmallVector<TypedAttr> packed;
  for (RecurrentLoop *loop : directions)
    for (nn::MatMulOp product : loop->products) {
      ElementsAttr attr =
          cpu::packMatMulWeights(nn::getConstant(product.getB()),
                                 product.getTransposeB(), b.getF32Type());
      // Declines elided constants, which cannot be packed.
      if (!attr)
        return;
      packed.push_back(cast<TypedAttr>(attr));
      auto type = cast<ShapedType>(attr.getType());
      if (loop == &model)
        room += type.getDimSize(0) * type.getDimSize(2);
    }
  kernel::RecurrentOperands operands(b, directions);
  Location loc = operands.loc;
  for (TypedAttr attr : packed)
    weights.push_back(arith::ConstantOp::create(b, loc, attr));
  for (RecurrentLoop *loop : directions) {
    SmallVector<OpFoldResult> sizes = {
        tensor::getMixedSize(b, loc, loop->loop.getInitArgs().front(), 0),
        b.getIndexAttr(room)};
    sums.push_back(tensor::EmptyOp::create(b, loc, sizes, b.getF32Type()));
  }
  SmallVector<Value> outs = operands.all;
  llvm::append_range(outs, operands.states);
  llvm::append_range(outs, sums);
  auto kernel = cpu::RecurrentOp::create(
      b, loc, ValueRange(outs).getTypes(), operands.srcs, weights,
      model.lengths, operands.columnOperands, outs, operands.reverse,
      model.gates, model.numStates, model.stores, /*schedule=*/{});
  kernel.getCell().takeBody(model.cell);
  kernel.getReset().takeBody(model.reset);
  cpu::recordPacking(kernel);
  kernel::replaceLoops(directions, kernel.getResults());
  fused += int64_t(directions.size());
}

void FuseRecurrentPass::runOnOperation() {
  kernel::forEachRecurrence(
      getOperation(), kBuilder, [&](ArrayRef<RecurrentLoop *> directions) {
        if (directions.size() > 1 || directions.front()->weightBytes <=
                                         cpu::threshold::recurrentBytesAlone)
          fuse(directions);
      });
}
