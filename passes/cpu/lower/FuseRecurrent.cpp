//===- FuseRecurrent.cpp - nn-fuse-recurrent ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/lower/NativeSupport.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/kernel/RecurrentLoop.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot {
#define GEN_PASS_DEF_FUSERECURRENT
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using kernel::RecurrentLoop;
using support::typeOf;

/// Recurrent weights of a loop alone that one core reads at each step as fast
/// as two that have to wait for each other. With more, threads share the steps'
/// products and hold parts of the weights in their caches.
static constexpr int64_t kMostBytesAlone = 512 << 10;

/// Rows of sums are a cache line further apart than they are long: a power of
/// two would put all of them into one set of the first-level cache.
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

//===----------------------------------------------------------------------===//
// Two directions
//===----------------------------------------------------------------------===//

static bool areAlike(RecurrentLoop &a, RecurrentLoop &b) {
  auto hasEqual = [](Region &x, Region &y) {
    return OperationEquivalence::isRegionEquivalentTo(
        &x, &y, OperationEquivalence::IgnoreLocations);
  };
  auto widthOf = [](nn::MatMulOp product) {
    return typeOf(product.getY()).getShape().back();
  };
  return a.hidden == b.hidden && a.numStates == b.numStates &&
         a.stores == b.stores && a.lengths == b.lengths && a.gates == b.gates &&
         // Steps that a run counts, each direction counts for itself.
         getConstantIntValue(a.loop.getUpperBound()) ==
             getConstantIntValue(b.loop.getUpperBound()) &&
         a.part.getSourceType() == b.part.getSourceType() &&
         a.loop.getResultTypes() == b.loop.getResultTypes() &&
         a.operands.size() == b.operands.size() &&
         llvm::equal(llvm::map_range(a.products, widthOf),
                     llvm::map_range(b.products, widthOf)) &&
         hasEqual(a.cell, b.cell) && hasEqual(a.reset, b.reset);
}

static bool usesAny(Operation *op, const llvm::DenseSet<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value value) {
                              return values.contains(value);
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Moves what needs the first loop behind the second, which is below it, if
/// that does not need it.
static bool bringTogether(RecurrentLoop &first, RecurrentLoop &second) {
  if (first.loop->getBlock() != second.loop->getBlock())
    return false;
  llvm::DenseSet<Value> needing(first.loop.result_begin(),
                                first.loop.result_end());
  SmallVector<Operation *> moved;
  for (Operation *op = first.loop->getNextNode(); op != second.loop;
       op = op->getNextNode()) {
    if (!usesAny(op, needing))
      continue;
    if (!isMemoryEffectFree(op))
      return false;
    moved.push_back(op);
    needing.insert(op->result_begin(), op->result_end());
  }
  if (usesAny(second.loop, needing))
    return false;
  for (Operation *op : llvm::reverse(moved))
    op->moveAfter(second.loop);
  return true;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// The steps that the loop takes: of sources that are longer the first.
static Value srcOf(OpBuilder &b, RecurrentLoop &loop) {
  Value src = loop.part.getSource();
  RankedTensorType type = typeOf(src);
  OpFoldResult steps = getAsOpFoldResult(loop.loop.getUpperBound());
  OpFoldResult batch = loop.part.getMixedSizes()[1];
  std::optional<int64_t> known = getConstantIntValue(steps),
                         sequences = getConstantIntValue(batch);
  if (type.getDimSize(0) == known && type.getDimSize(1) == sequences)
    return src;
  Location loc = loop.loop.getLoc();
  SmallVector<OpFoldResult> zeros(3, b.getIndexAttr(0)),
      ones(3, b.getIndexAttr(1)),
      sizes = {steps, batch, b.getIndexAttr(type.getShape().back())};
  SmallVector<int64_t> shape = {known.value_or(ShapedType::kDynamic),
                                sequences.value_or(ShapedType::kDynamic),
                                type.getShape().back()};
  return tensor::ExtractSliceOp::create(b, loc, type.clone(shape), src,
                                        zeros, sizes, ones);
}

static Value columnsOf(OpBuilder &b, RecurrentLoop &loop,
                       std::pair<Value, int64_t> operand) {
  auto [value, offset] = operand;
  RankedTensorType type = typeOf(value);
  if (offset == 0 && type.getDimSize(0) == loop.hidden)
    return value;
  SmallVector<OpFoldResult> at = {b.getIndexAttr(offset)},
                            size = {b.getIndexAttr(loop.hidden)},
                            one = {b.getIndexAttr(1)};
  return tensor::ExtractSliceOp::create(b, loop.loop.getLoc(),
                                        type.clone({loop.hidden}), value, at,
                                        size, one);
}

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
      // Of constants that are elided, say.
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
    srcs.push_back(srcOf(b, *loop));
    reverse.push_back(loop->isReverse);
    for (auto operand : loop->operands)
      operands.push_back(columnsOf(b, *loop, operand));
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
    if (next && areAlike(*loops[i], *next) && bringTogether(*loops[i], *next)) {
      fuse({loops[i].get(), next});
      ++i;
    } else if (loops[i]->weightBytes <= kMostBytesAlone) {
      fuse({loops[i].get()});
    }
  }
}
