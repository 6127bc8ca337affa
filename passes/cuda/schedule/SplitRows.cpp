//===- SplitRows.cpp - cuda-split-rows ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/Passes.h"
#include "passes/cuda/schedule/ChooseRows.h"
#include "passes/kernel/RowEpilogue.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace ingot {
#define GEN_PASS_DEF_SPLITROWS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using support::typeOf;

namespace {

struct SplitRowsPass : ingot::impl::SplitRowsBase<SplitRowsPass> {
  using SplitRowsBase::SplitRowsBase;
  void runOnOperation() override;
};

} // namespace

static Value reshapeTo(OpBuilder &b, Location loc, Value x,
                       ArrayRef<int64_t> shape) {
  return support::reshape(b, loc, x,
                          getAsIndexOpFoldResult(b.getContext(), shape));
}

static Value createEmpty(OpBuilder &b, Location loc, ArrayRef<int64_t> shape,
                         Type element) {
  return tensor::EmptyOp::create(b, loc, shape, element);
}

/// Gives a kernel an epilogue that yields the result of the kernel.
static void buildPlainEpilogue(OpBuilder &b, Location loc, Region &epilogue) {
  kernel::buildRowEpilogue<YieldOp>(b, loc, epilogue, b.getF32Type(),
                                    /*hasScale=*/false, /*hasBias=*/false);
}

/// Returns the kind that combines the results of parts. Only parts square
/// elements.
static ReduceKind combinedKind(ReduceKind kind) {
  return kind == ReduceKind::sum_square ? ReduceKind::sum : kind;
}

/// Lets `op` reduce parts, whose results another reduction combines.
static Operation *split(ReduceOp op, int64_t parts) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> shape(typeOf(op.getSrc()).getShape());
  const size_t at = shape.size() - 2;
  shape[at] /= parts;
  shape.insert(shape.begin() + int64_t(at), parts);
  Value src = reshapeTo(b, loc, op.getSrc(), shape);
  shape.erase(shape.begin() + int64_t(at) + 1);
  Value dst = createEmpty(b, loc, shape, b.getF32Type());
  auto part =
      ReduceOp::create(b, loc, dst.getType(), op.getKind(), src, ValueRange(),
                       dst, /*schedule=*/RowScheduleAttr());
  buildPlainEpilogue(b, loc, part.getEpilogue());
  auto whole = ReduceOp::create(b, loc, op.getResult().getType(),
                                combinedKind(op.getKind()), part.getResult(),
                                op.getEpilogueOperands(), op.getDst(),
                                /*schedule=*/RowScheduleAttr());
  whole.getEpilogue().takeBody(op.getEpilogue());
  return whole;
}

/// Returns true if the samples of an epilogue operand can become parts.
static bool isSplittable(Value operand, ArrayRef<int64_t> dst) {
  ArrayRef<int64_t> shape = typeOf(operand).getShape();
  return (shape[0] == 1 && shape[1] == 1) ||
         (shape[0] == dst[0] && shape[1] == dst[1]);
}

/// Lets a kernel compute the moments of parts, with which another one
/// normalizes. Returns null if an operand of the epilogue does not allow that.
static Operation *split(GroupNormOp op, int64_t parts) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  ArrayRef<int64_t> whole = typeOf(op.getDst()).getShape();
  if (!llvm::all_of(op.getEpilogueOperands(), [&](Value operand) {
        return isSplittable(operand, whole);
      }))
    return nullptr;
  auto splitSamples = [&](Value x) {
    SmallVector<int64_t> shape(typeOf(x).getShape());
    if (shape[0] == 1 && shape[1] == 1)
      return x;
    shape[0] *= parts;
    shape[1] /= parts;
    return reshapeTo(b, loc, x, shape);
  };
  Value src = splitSamples(op.getSrc());
  const int64_t samples = typeOf(src).getDimSize(0);
  Value destination = createEmpty(b, loc, {samples, int64_t(op.getGroups()), 2},
                                  b.getF32Type());
  auto moments =
      MomentsOp::create(b, loc, destination.getType(), src, ValueRange(),
                        destination, op.getGroupsAttr(), RowScheduleAttr());
  buildPlainEpilogue(b, loc, moments.getEpilogue());
  Value dst = createEmpty(b, loc, typeOf(src).getShape(),
                          typeOf(op.getDst()).getElementType());
  auto normalize = NormalizeOp::create(
      b, loc, dst.getType(), src, moments.getResult(),
      llvm::map_to_vector(op.getEpilogueOperands(), splitSamples), dst,
      op.getGroupsAttr(), b.getI64IntegerAttr(parts), op.getEpsilonAttr(),
      RowScheduleAttr());
  normalize.getEpilogue().takeBody(op.getEpilogue());
  return reshapeTo(b, loc, normalize.getResult(), whole).getDefiningOp();
}

void SplitRowsPass::runOnOperation() {
  uint64_t number = 0;
  getOperation().walk([&](kernel::EpilogueOpInterface op) {
    if (!isa<GroupNormOp, ReduceOp>(*op) || op->getNumResults() == 0)
      return;
    Rows rows(op);
    // The workspace of the parts has a known size.
    if (rows.isOpen())
      return;
    const int64_t parts = seed == 0 ? choosePartsOfRows(rows)
                                    : drawPartsOfRows(rows, seed + ++number);
    if (parts == 1)
      return;
    auto reduce = dyn_cast<ReduceOp>(*op);
    Operation *replaced =
        reduce ? split(reduce, parts) : split(cast<GroupNormOp>(*op), parts);
    if (!replaced)
      return;
    ++numSplit;
    op->replaceAllUsesWith(replaced);
    op->erase();
  });
}
