//===- CudaFuseRecurrent.cpp - cuda-fuse-recurrent ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/backend/Policy.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/NNToCuda.h"
#include "passes/cuda/schedule/Machine.h"
#include "passes/kernel/RecurrentDirections.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_CUDAFUSERECURRENT
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using kernel::RecurrentLoop;
using support::typeOf;

static constexpr kernel::RecurrentBuilder kBuilder{
    [](nn::MatMulOp product) { return cuda::whyNotToCuda(product); },
    [](OpBuilder &builder, Location loc, ValueRange values) {
      cuda::YieldOp::create(builder, loc, values);
    }};

namespace {

struct CudaFuseRecurrentPass
    : ingot::impl::CudaFuseRecurrentBase<CudaFuseRecurrentPass> {
  void runOnOperation() override;
  /// Replaces the loops by a kernel, or records why there is none.
  void fuse(ArrayRef<RecurrentLoop *> directions);
};

} // namespace

/// The fewest launches of a step on matrix units: a cast of the state, the
/// product, and the cell.
static constexpr int64_t kProductLaunches = 3;

/// Says that matrix units compute a step faster. They need several launches.
static Reason whyNotFaster(RecurrentLoop &loop) {
  const int64_t batch = typeOf(loop.products.front().getY()).getDimSize(0);
  if (ShapedType::isDynamic(batch))
    return std::nullopt;
  nn::MatMulOp product = loop.products.front();
  int64_t rate = cuda::kFloatRate;
  if (isTF32(product))
    rate = cuda::kHalfRate / 2;
  else if (!cuda::factorType(product).isF32())
    rate = cuda::kHalfRate;
  int64_t gates = 0;
  for (int64_t each : loop.gates)
    gates += each;
  const int64_t steps = batch * gates * loop.hidden * loop.hidden;
  const int64_t each = cuda::kLatency + cuda::kLaunch;
  const int64_t own = each + steps / (cuda::kProcessors * cuda::kFloatRate);
  const int64_t others =
      kProductLaunches * each + steps / (cuda::kProcessors * rate);
  if (own <= others)
    return std::nullopt;
  return "multiplies " + std::to_string(batch) +
         " sequences, which matrix units do faster";
}

static Type typeOfWeights(RecurrentLoop &loop) {
  return cuda::factorType(loop.products.front());
}

/// Says why there is no kernel for the steps of a recurrence.
static Reason whyNot(RecurrentLoop &loop) {
  for (nn::MatMulOp product : loop.products)
    if (cuda::factorType(product) != typeOfWeights(loop))
      return "has weights of different types";
  return whyNotFaster(loop);
}

/// Returns true if both loops take the same number of steps in every run.
static bool haveSameSteps(RecurrentLoop &a, RecurrentLoop &b,
                          const shape::SameSizes &sizes) {
  Value first = a.loop.getUpperBound(), second = b.loop.getUpperBound();
  if (first == second || getConstantIntValue(first))
    return true;
  auto dim = first.getDefiningOp<tensor::DimOp>(),
       other = second.getDefiningOp<tensor::DimOp>();
  if (!dim || !other || !dim.getConstantIndex() || !other.getConstantIndex())
    return false;
  return sizes.isSame(dim.getSource(), *dim.getConstantIndex(),
                      other.getSource(), *other.getConstantIndex());
}

/// Builds the masks of all steps of `src`: true if the sequence is longer.
static Value buildMasks(OpBuilder &b, Location loc, Value lengths, Value src) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, src);
  sizes.pop_back();
  Value masks = tensor::EmptyOp::create(b, loc, sizes, b.getI1Type());
  AffineExpr sequence = b.getAffineDimExpr(1);
  AffineMap ofLengths = AffineMap::get(
      2, 0, {sequence, b.getAffineConstantExpr(0)}, b.getContext());
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto body = [](OpBuilder &b, Location loc, ValueRange values) {
    Value step = linalg::IndexOp::create(b, loc, 0);
    Value number =
        arith::IndexCastOp::create(b, loc, values[0].getType(), step);
    Value isWithin = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                           number, values[0]);
    linalg::YieldOp::create(b, loc, isWithin);
  };
  return linalg::GenericOp::create(
             b, loc, masks.getType(), lengths, masks,
             ArrayRef{ofLengths, b.getMultiDimIdentityMap(2)}, iterators, body)
      .getResult(0);
}

void CudaFuseRecurrentPass::fuse(ArrayRef<RecurrentLoop *> directions) {
  RecurrentLoop &model = *directions.front();
  if (Reason reason = whyNot(model))
    return record(model.loop, Question::schedule, "products in a loop",
                  *reason);
  OpBuilder b(directions.back()->loop);
  SmallVector<TypedAttr> packed;
  for (RecurrentLoop *loop : directions)
    for (nn::MatMulOp product : loop->products) {
      ElementsAttr attr =
          cuda::packColumns(nn::getConstant(product.getB()),
                            product.getTransposeB(), cuda::factorType(product));
      // Declines elided constants, which cannot be packed.
      if (!attr)
        return;
      packed.push_back(cast<TypedAttr>(attr));
    }
  kernel::RecurrentOperands operands(b, directions);
  Location loc = operands.loc;
  SmallVector<Value> weights, outs = operands.all;
  for (TypedAttr attr : packed)
    weights.push_back(arith::ConstantOp::create(b, loc, attr));
  llvm::append_range(outs, operands.states);
  SmallVector<OpFoldResult> room = {
      b.getIndexAttr(model.reset.empty() ? 2 : 3),
      tensor::getMixedSize(b, loc, operands.states.front(), 0),
      b.getIndexAttr(
          int64_t(llvm::alignTo(uint64_t(model.hidden),
                                uint64_t(cuda::RecurrentOp::kRoomElements))))};
  for (size_t d = 0; d < directions.size(); ++d)
    outs.push_back(tensor::EmptyOp::create(b, loc, room, b.getF32Type()));
  Value masks;
  if (model.lengths)
    masks = buildMasks(b, loc, model.lengths, operands.srcs.front());
  auto kernel = cuda::RecurrentOp::create(
      b, loc, ValueRange(outs).getTypes(), operands.srcs, weights, masks,
      operands.columnOperands, outs, operands.reverse, model.gates,
      model.numStates, model.stores, /*schedule=*/{});
  kernel.getCell().takeBody(model.cell);
  kernel.getReset().takeBody(model.reset);
  kernel::replaceLoops(directions, kernel.getResults());
  fused += int64_t(directions.size());
}

void CudaFuseRecurrentPass::runOnOperation() {
  shape::SameSizes sizes(getOperation());
  kernel::forEachRecurrence(
      getOperation(), kBuilder, [&](ArrayRef<RecurrentLoop *> directions) {
        RecurrentLoop &first = *directions.front(), &last = *directions.back();
        if (haveSameSteps(first, last, sizes) &&
            typeOfWeights(first) == typeOfWeights(last))
          return fuse(directions);
        for (RecurrentLoop *each : directions)
          fuse({each});
      });
}
