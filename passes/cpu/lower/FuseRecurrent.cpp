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
    [](nn::MatMulOp product) { return cpu::whyNotToCpu(product); },
    [](OpBuilder &builder, Location loc, ValueRange values) {
      cpu::YieldOp::create(builder, loc, values);
    }};

namespace {

using Loops = SmallVector<std::unique_ptr<RecurrentLoop>>;

struct FuseRecurrentPass : ingot::impl::FuseRecurrentBase<FuseRecurrentPass> {
  void runOnOperation() override;
  bool fuse(ArrayRef<RecurrentLoop *> directions);
};

} // namespace

bool FuseRecurrentPass::fuse(ArrayRef<RecurrentLoop *> directions) {
  RecurrentLoop &model = *directions.front();
  scf::ForOp last = directions.back()->loop;
  OpBuilder b(last);
  SmallVector<Value> srcs, weights, operands, all, states, sums;
  SmallVector<bool> reverse;
  int64_t room = (model.reset.empty() ? 0 : model.hidden) + kLineFloats;
  SmallVector<TypedAttr> packed;
  for (RecurrentLoop *loop : directions)
    for (nn::MatMulOp product : loop->products) {
      ElementsAttr attr =
          cpu::packMatMulWeights(nn::getConstant(product.getB()),
                                 product.getTransposeB(), b.getF32Type());
      // Declines elided constants, which cannot be packed.
      if (!attr)
        return false;
      packed.push_back(cast<TypedAttr>(attr));
      auto type = cast<ShapedType>(attr.getType());
      if (loop == &model)
        room += type.getDimSize(0) * type.getDimSize(2);
    }
  for (TypedAttr attr : packed)
    weights.push_back(arith::ConstantOp::create(b, last.getLoc(), attr));
  SmallVector<Location> locations;
  for (RecurrentLoop *loop : directions) {
    locations.push_back(loop->loop.getLoc());
    srcs.push_back(loop->buildSource(b));
    reverse.push_back(loop->isReverse);
    llvm::append_range(operands, loop->buildOperands(b));
    auto initial = loop->loop.getInitArgs();
    if (loop->stores)
      all.push_back(initial.back());
    llvm::append_range(states, initial.take_front(loop->numStates));
    SmallVector<OpFoldResult> sizes = {
        tensor::getMixedSize(b, last.getLoc(), initial.front(), 0),
        b.getIndexAttr(room)};
    sums.push_back(
        tensor::EmptyOp::create(b, last.getLoc(), sizes, b.getF32Type()));
  }
  SmallVector<Value> outs = all;
  llvm::append_range(outs, states);
  llvm::append_range(outs, sums);
  auto kernel = cpu::RecurrentOp::create(
      b, b.getFusedLoc(locations), ValueRange(outs).getTypes(), srcs, weights,
      model.lengths, operands, outs, reverse, model.gates, model.numStates,
      model.stores, /*schedule=*/{});
  kernel.getCell().takeBody(model.cell);
  kernel.getReset().takeBody(model.reset);
  cpu::recordPacking(kernel);
  auto results = kernel.getResults();
  for (auto [d, loop] : llvm::enumerate(directions)) {
    SmallVector<Value> own(
        results.slice(all.size() + d * model.numStates, model.numStates));
    if (model.stores)
      own.push_back(results[d]);
    loop->loop->replaceAllUsesWith(own);
    loop->loop->erase();
    ++fused;
  }
  return true;
}

void FuseRecurrentPass::runOnOperation() {
  Loops loops;
  getOperation()->walk([&](scf::ForOp op) {
    auto loop = std::make_unique<RecurrentLoop>(op, kBuilder);
    if (!loop->match())
      loops.push_back(std::move(loop));
  });
  for (size_t i = 0; i < loops.size(); ++i) {
    RecurrentLoop *next = i + 1 < loops.size() ? loops[i + 1].get() : nullptr;
    if (next && kernel::joinDirections(*loops[i], *next)) {
      fuse({loops[i].get(), next});
      ++i;
    } else if (loops[i]->weightBytes <= cpu::threshold::recurrentBytesAlone) {
      fuse({loops[i].get()});
    }
  }
}
