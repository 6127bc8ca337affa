//===- NNToCpu.cpp - nn-to-cpu --------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/NNToCpu.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/PackAtRunTime.h"
#include "passes/cpu/lower/PackWeights.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/lower/RecordPacking.h"
#include "passes/cpu/policy/HalfPrecision.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/SmallGroups.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Rewrite.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"

#include <cmath>

namespace ingot {
#define GEN_PASS_DEF_NNTOCPU
#include "passes/cpu/lower/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using support::typeOf;

/// Returns the element type that a product multiplies, without its sign. Bytes
/// and int16 stay as they are; floats are bf16 if nn-assign-precision said so.
static Type productType(Operation *op) {
  Builder builder(op->getContext());
  Type src = typeOf(op->getOperand(0)).getElementType();
  if (nn::isInt8OrInt16(src))
    return nn::signless(src);
  return isBF16(op) ? Type(builder.getBF16Type()) : Type(builder.getF32Type());
}

/// Returns the stored type of the weights of `op`. Its products have type
/// `element`. The stored type is f16 if the user asked for it and f16
/// represents all weights.
static Type storedType(Operation *op, ElementsAttr weights, Type element) {
  if (!weights || !element.isF32() || !isFP16(op))
    return element;
  std::optional<double> beyond = cpu::findBeyondF16(weights);
  if (!beyond)
    return Float16Type::get(op->getContext());
  InFlightDiagnostic warning = op->emitWarning();
  if (std::abs(*beyond) < 1)
    warning << "has no weight larger than " << *beyond
            << ", where float16 has too few numbers";
  else
    warning << "has a weight of " << *beyond
            << ", but float16 ends at 65504";
  warning << ": its weights stay float32";
  return element;
}

namespace {
/// The factors of a product.
struct Factors {
  /// The element types of src, and of the weights as they are stored.
  Type src, stored;
  ElementsAttr weights;
  /// The factors by which the epilogue undoes the scaling of weights; null
  /// without scaling.
  ElementsAttr undo;
};
} // namespace

static Factors factorsOf(Operation *op, ElementsAttr weights,
                         const cpu::WeightColumns &columns, bool halfSums) {
  Type element = productType(op);
  if (!weights || !halfSums || !isFP16(op) || !element.isF32() ||
      !cpu::isWorthF16Sums(op))
    return {element, storedType(op, weights, element), weights, {}};
  if (std::optional<cpu::ScaledWeights> scaled =
          cpu::scaleForF16Sums(weights, columns)) {
    Type half = Float16Type::get(op->getContext());
    return {half, half, scaled->weights, scaled->undo};
  }
  op->emitWarning() << "has weights that float16 does not hold, however they "
                       "are scaled: it stays float32";
  return {element, element, weights, {}};
}

void cpu::buildEpilogue(OpBuilder &builder, Location loc, Region &region,
                        Type type, bool hasBias, bool hasScale) {
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&region);
  Value sum = body->addArgument(type, loc);
  if (hasScale)
    sum = arith::MulFOp::create(builder, loc, sum,
                                body->addArgument(type, loc));
  if (hasBias)
    sum = arith::AddFOp::create(builder, loc, sum,
                                body->addArgument(type, loc));
  cpu::YieldOp::create(builder, loc, sum);
}

static Value expandConstant(OpBuilder &builder, Location loc,
                            ElementsAttr vector, int64_t rank) {
  return support::expandVector(
      builder, arith::ConstantOp::create(builder, loc, cast<TypedAttr>(vector)),
      rank);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

struct ConvPattern : OpRewritePattern<nn::ConvOp> {
  ConvPattern(MLIRContext *context, bool halfSums)
      : OpRewritePattern(context), halfSums(halfSums) {}

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override;

  bool halfSums;
};

struct ConvTransposePattern : OpRewritePattern<nn::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override;
};

struct MatMulPattern : OpRewritePattern<nn::MatMulOp> {
  MatMulPattern(MLIRContext *context, bool halfSums)
      : OpRewritePattern(context), halfSums(halfSums) {}

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;

  bool halfSums;
};

struct NNToCpuPass : ingot::impl::NNToCpuBase<NNToCpuPass> {
  using NNToCpuBase::NNToCpuBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvPattern, MatMulPattern>(
        &getContext(), cpu::addsF16Sums(getOperation(), precision));
    patterns.add<ConvTransposePattern>(&getContext());
    cpu::populateBandMatMulToCpu(patterns);
    cpu::populatePackedMatMulToCpu(patterns);
    cpu::populateResampleToCpu(patterns, maxTableBytes);
    cpu::populateRowsToCpu(patterns);
    rewriteInOneWalk(getOperation(), std::move(patterns));
    // Erase unused casts of bytes, which kernels read directly, and unused ops
    // that moved results, which kernels now store in place. Users come before
    // operands.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<nn::ElementwiseOpInterface, nn::GatherOp, nn::ReshapeOp,
              nn::SliceOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
  }
};

} // namespace

/// Replaces sums of i32 by whole numbers in f32. Leaves unused casts for later,
/// because the walk may visit them next.
static void replaceByFloats(PatternRewriter &rewriter, nn::ConvOp op,
                            Value sums) {
  for (Operation *user : op->getUsers())
    if (isa<nn::CastOp>(user) && user->getResult(0).getType() == sums.getType())
      rewriter.replaceAllUsesWith(user->getResult(0), sums);
  rewriter.replaceOpWithNewOp<nn::CastOp>(op, op.getType(), sums,
                                          /*in_range=*/true);
}

LogicalResult ConvPattern::matchAndRewrite(nn::ConvOp op,
                                           PatternRewriter &rewriter) const {
  RankedTensorType type = op.getY().getType();
  if (Reason reason = cpu::whyNotToCpu(op))
    return rewriter.notifyMatchFailure(op, *reason);
  ElementsAttr weights = nn::getConstant(op.getW());
  Location loc = op.getLoc();
  int64_t groups = op.getGroups();
  bool isDepthwise = support::isDepthwise(op);
  Type element = productType(op);
  bool isBytes = element.isInteger();
  // True if several groups share a vector, as the channels of a depthwise
  // convolution do.
  bool isGrouped = cpu::shareVectors(typeOf(op.getW()).getShape(), groups) &&
                   element.isF32();
  ElementsAttr packed, undo;
  Value panels;
  if (!weights) {
    OpBuilder::InsertionGuard guard(rewriter);
    cpu::setInsertionPointOutside(rewriter, op, op.getW());
    Value computed = support::castElements(rewriter, loc, op.getW(), element);
    panels = isDepthwise || isGrouped
                 ? cpu::packTaps(rewriter, loc, computed)
                 : cpu::packFilter(rewriter, loc, computed, groups);
  } else if (isDepthwise || isGrouped) {
    packed = isDepthwise ? cpu::packDepthwiseWeights(weights)
                         : cpu::packGroupedWeights(weights);
    if (isDepthwise && halfSums && isFP16(op) && element.isF32())
      element = rewriter.getF16Type();
  } else {
    int64_t outputs = type.getShape().back();
    int64_t depth = weights.getNumElements() / outputs;
    Factors factors =
        factorsOf(op, weights, {outputs, depth, depth, 1}, halfSums);
    packed = cpu::packConvWeights(factors.weights, groups, factors.stored,
                                  factors.src);
    element = factors.src;
    undo = factors.undo;
  }
  if (!packed && !panels)
    return rewriter.notifyMatchFailure(op, cpu::kNoBytes);
  if (!panels)
    panels = arith::ConstantOp::create(rewriter, op.getW().getLoc(), packed);
  if (isDepthwise && isBytes)
    type = type.clone(rewriter.getF32Type());
  Value destination =
      support::destinationOf(rewriter, op->getResult(0), type.getElementType());
  SmallVector<Value> operands;
  if (undo)
    operands.push_back(expandConstant(rewriter, loc, undo, type.getRank()));
  if (op.getBias())
    operands.push_back(
        support::expandVector(rewriter, op.getBias(), type.getRank()));
  Value src = support::castElements(rewriter, loc, op.getX(), element);
  int64_t zeroPoint = op.getXZeroPoint();
  Operation *kernel;
  if (isDepthwise || isGrouped) {
    kernel = cpu::DepthwiseConvOp::create(
        rewriter, loc, type, src, panels, operands, destination,
        op.getStrides(), op.getPads(), op.getDilations(), zeroPoint,
        /*schedule=*/{});
  } else {
    Value compensation;
    if (zeroPoint != 0)
      compensation = arith::ConstantOp::create(
          rewriter, op.getW().getLoc(),
          cpu::packCompensation(weights, groups, zeroPoint));
    kernel = cpu::ConvOp::create(
        rewriter, loc, type, src, panels, compensation, /*pairs=*/Value(),
        operands, destination, op.getStrides(), op.getPads(), op.getDilations(),
        groups, zeroPoint,
        cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::panels),
        /*dst_signs=*/{},
        /*schedule=*/{});
  }
  cpu::buildEpilogue(rewriter, loc, kernel->getRegion(0), type.getElementType(),
                     bool(op.getBias()), bool(undo));
  cpu::recordPacking(kernel);
  if (isDepthwise && isBytes)
    replaceByFloats(rewriter, op, kernel->getResult(0));
  else
    rewriter.replaceOp(op, kernel);
  return success();
}

LogicalResult
ConvTransposePattern::matchAndRewrite(nn::ConvTransposeOp op,
                                      PatternRewriter &rewriter) const {
  RankedTensorType type = op.getY().getType();
  if (Reason reason = cpu::whyNotToCpu(op))
    return rewriter.notifyMatchFailure(op, *reason);
  std::vector<char> storage;
  if (ElementsAttr weights = nn::getConstant(op.getW());
      weights && !nn::getRawBytes(weights, storage))
    return rewriter.notifyMatchFailure(op, cpu::kNoBytes);
  Location loc = op.getLoc();
  Value destination = support::destinationOf(rewriter, op->getResult(0));
  SmallVector<Value> operands;
  if (op.getBias())
    operands.push_back(
        support::expandVector(rewriter, op.getBias(), type.getRank()));
  // Subtracts the output padding from the pads, which crop the result.
  SmallVector<int64_t> pads(op.getPads());
  for (auto [i, more] : llvm::enumerate(op.getOutputPadding()))
    pads[op.getStrides().size() + i] -= more;
  auto kernel = cpu::ConvTransposeOp::create(
      rewriter, loc, type, op.getX(), op.getW(), operands, destination,
      op.getStrides(), pads, op.getDilations(), op.getGroups(),
      op.getXZeroPoint());
  cpu::buildEpilogue(rewriter, loc, kernel.getEpilogue(), type.getElementType(),
                     !operands.empty());
  rewriter.replaceOp(op, kernel);
  return success();
}

LogicalResult MatMulPattern::matchAndRewrite(nn::MatMulOp op,
                                             PatternRewriter &rewriter) const {
  RankedTensorType type = op.getY().getType();
  if (Reason reason = cpu::whyNotToCpu(op))
    return rewriter.notifyMatchFailure(op, *reason);
  int64_t rank = type.getRank();
  Location loc = op.getLoc();
  Type element = productType(op);
  Value weights;
  ElementsAttr undo;
  if (ElementsAttr constant = nn::getConstant(op.getB())) {
    int64_t columns = type.getShape().back();
    int64_t depth = constant.getNumElements() / std::max<int64_t>(columns, 1);
    Factors factors = factorsOf(
        op, constant,
        op.getTransposeB() ? cpu::WeightColumns{columns, depth, depth, 1}
                           : cpu::WeightColumns{columns, depth, 1, columns},
        halfSums);
    element = factors.src;
    undo = factors.undo;
    ElementsAttr packed = cpu::packMatMulWeights(
        factors.weights, op.getTransposeB(), factors.stored, factors.src);
    if (!packed)
      return rewriter.notifyMatchFailure(op, cpu::kNoBytes);
    weights = arith::ConstantOp::create(rewriter, op.getB().getLoc(), packed);
  } else {
    OpBuilder::InsertionGuard guard(rewriter);
    cpu::setInsertionPointOutside(rewriter, op, op.getB());
    weights = cpu::packFactor(
        rewriter, loc, support::castElements(rewriter, loc, op.getB(), element),
        op.getTransposeB());
  }
  Value bias = op.getBias();
  bool isVector = bias && typeOf(bias).getRank() == 1 &&
                  typeOf(bias).getShape() == type.getShape().take_back();
  SmallVector<Value> operands;
  if (undo)
    operands.push_back(expandConstant(rewriter, loc, undo, rank));
  if (isVector)
    operands.push_back(support::expandVector(rewriter, bias, rank));
  Value a = op.getA();
  if (op.getTransposeA()) {
    SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(rank));
    std::swap(perm[rank - 2], perm[rank - 1]);
    a = support::transpose(rewriter, loc, a, perm);
  }
  // Takes the batch sizes of the result from `a`, because nn-broadcast-batches
  // has given both factors the batches of the result.
  Value destination = support::createEmpty(
      rewriter, loc, type, support::dynamicSizesLike(rewriter, loc, type, a));
  auto product = cpu::MatMulOp::create(
      rewriter, loc, type, support::castElements(rewriter, loc, a, element),
      weights,
      /*blocks=*/Value(), /*pairs=*/Value(), operands, destination,
      cpu::WeightsAttr::get(op.getContext(), cpu::WeightsKind::panels),
      /*dst_signs=*/{},
      /*schedule=*/{});
  cpu::buildEpilogue(rewriter, loc, product.getEpilogue(),
                     type.getElementType(), isVector, bool(undo));
  cpu::recordPacking(product);
  Value result = product.getResult();
  if (bias && !isVector)
    result = nn::AddOp::create(rewriter, loc, type, result, bias);
  rewriter.replaceOp(op, result);
  return success();
}
