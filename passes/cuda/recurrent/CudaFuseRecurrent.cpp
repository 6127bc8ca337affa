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
#include "passes/cuda/schedule/ChooseRecurrent.h"
#include "passes/cuda/schedule/ChooseSchedule.h"
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

static Type typeOfWeights(RecurrentLoop &loop) {
  return cuda::factorType(loop.products.front());
}

/// Returns the cycles of a step whose products stay in the loop. Besides the
/// products, a launch computes each state, the output, and what a later product
/// multiplies. States are rounded to weights of 16 bits by launches, too.
static int64_t estimateProducts(RecurrentLoop &loop, int64_t batch) {
  Type element = typeOfWeights(loop);
  const auto numProducts = int64_t(loop.products.size());
  const int64_t others = loop.numStates + (loop.stores ? 1 : 0) + numProducts -
                         1 + (element.isF32() ? 0 : numProducts);
  int64_t cycles = others * (cuda::kLaunch + cuda::kLatency);
  for (auto [product, gates] : llvm::zip_equal(loop.products, loop.gates)) {
    const int64_t columns = gates * loop.hidden;
    const cuda::Product shape(batch, columns, loop.hidden, element,
                              isTF32(product));
    cycles += cuda::kLaunch + cuda::chooseParts(shape).cycles;
    // The product writes its results, and each state reads them.
    cycles += (1 + loop.numStates) * batch * columns * int64_t(sizeof(float)) /
              (cuda::kProcessors * cuda::kCacheBytes);
  }
  return cycles;
}

/// Returns the cycles of a step of some directions in a kernel.
static int64_t estimateKernel(ArrayRef<RecurrentLoop *> directions,
                              int64_t batch) {
  RecurrentLoop &model = *directions.front();
  cuda::RecurrentSizes sizes{int64_t(directions.size()), model.hidden,
                             llvm::sum_of(model.gates),
                             cuda::elementsOfAccess(typeOfWeights(model))};
  sizes.batch = batch;
  SmallVector<Alternative> alternatives;
  cuda::RecurrentScheduleAttr schedule =
      cuda::chooseSchedule(model.loop->getContext(), sizes, alternatives);
  // The kernel of `reset` is a second launch.
  const int64_t others =
      model.reset.empty() ? 0 : cuda::kLaunch + cuda::kLatency;
  return cuda::kLaunch + cuda::estimateCycles(sizes, schedule) + others;
}

/// Says that products in the loop take less time than a kernel. They are
/// faster for many sequences, but need several launches. An open number of
/// sequences is taken for a small one.
static Reason whyNotFaster(ArrayRef<RecurrentLoop *> directions) {
  RecurrentLoop &model = *directions.front();
  const int64_t batch = typeOf(model.products.front().getY()).getDimSize(0);
  if (ShapedType::isDynamic(batch))
    return std::nullopt;
  const int64_t products =
      int64_t(directions.size()) * estimateProducts(model, batch);
  if (estimateKernel(directions, batch) <= products)
    return std::nullopt;
  return "multiplies " + std::to_string(batch) +
         " sequences, which products of matrices do faster";
}

/// Says why there is no kernel for the steps of a recurrence.
static Reason whyNot(ArrayRef<RecurrentLoop *> directions) {
  RecurrentLoop &loop = *directions.front();
  for (nn::MatMulOp product : loop.products)
    if (cuda::factorType(product) != typeOfWeights(loop))
      return "has weights of different types";
  return whyNotFaster(directions);
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
  if (Reason reason = whyNot(directions))
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
