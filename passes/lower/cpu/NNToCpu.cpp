//===- NNToCpu.cpp - nn-to-cpu --------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/lower/cpu/Passes.h"
#include "passes/support/Destination.h"
#include "passes/lower/cpu/NNToCpu.h"
#include "passes/lower/cpu/PackWeights.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace ingot {
#define GEN_PASS_DEF_NNTOCPU
#include "passes/lower/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using lower::typeOf;

bool lower::takesNative(Operation *op) {
  BackendAttr choice =
      IngotDialect::BackendAttrHelper(op->getContext()).getAttr(op);
  if (choice && choice.getValue() != Backend::native)
    return false;
  auto fits = [](Value value) {
    RankedTensorType type = typeOf(value);
    return type.getElementType().isF32() &&
           !llvm::is_contained(type.getShape(), 0);
  };
  return llvm::all_of(op->getOperands(), fits) &&
         llvm::all_of(op->getResults(), fits);
}

/// The type of src and weights: bf16 where nn-assign-precision said so.
static Type productType(Operation *op) {
  Builder builder(op->getContext());
  return isBF16(op) ? Type(builder.getBF16Type()) : Type(builder.getF32Type());
}

static Value castElements(OpBuilder &builder, Location loc, Value value,
                          Type element) {
  RankedTensorType type = typeOf(value);
  if (type.getElementType() == element)
    return value;
  return nn::CastOp::create(builder, loc, type.clone(element), value);
}

/// An epilogue that stores the sum, or the sum and an element of the bias.
static void buildEpilogue(OpBuilder &builder, Location loc, Region &region,
                          Type type, bool hasBias) {
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&region);
  Value sum = body->addArgument(type, loc);
  if (hasBias)
    sum = arith::AddFOp::create(builder, loc, sum,
                                body->addArgument(type, loc));
  cpu::YieldOp::create(builder, loc, sum);
}

Value lower::expandBias(OpBuilder &builder, Value bias, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape.back() = typeOf(bias).getDimSize(0);
  SmallVector<ReassociationIndices> whole(1);
  for (int64_t i = 0; i < rank; ++i)
    whole[0].push_back(i);
  return tensor::ExpandShapeOp::create(
      builder, bias.getLoc(),
      RankedTensorType::get(shape, typeOf(bias).getElementType()), bias, whole);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// Data of known size but for the batch, with constant weights.
struct ConvPattern : OpRewritePattern<nn::ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvOp op,
                                PatternRewriter &rewriter) const override;
};

/// The same, transposed.
struct ConvTransposePattern : OpRewritePattern<nn::ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConvTransposeOp op,
                                PatternRewriter &rewriter) const override;
};

struct MatMulPattern : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override;
};

struct NNToCpuPass : ingot::impl::NNToCpuBase<NNToCpuPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvPattern, ConvTransposePattern, MatMulPattern>(
        &getContext());
    lower::populateRowsToCpu(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace

LogicalResult ConvPattern::matchAndRewrite(nn::ConvOp op,
                                           PatternRewriter &rewriter) const {
  RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
  RankedTensorType type = op.getY().getType();
  ElementsAttr weights = nn::getConstant(op.getW());
  if (!op.getChannelsLast() || !lower::takesNative(op) || !weights ||
      type.getRank() > 5 || llvm::any_of(op.getPads(), [](int64_t pad) {
        return pad < 0;
      }))
    return failure();
  for (RankedTensorType data : {x, type})
    if (ShapedType::isDynamicShape(data.getShape().drop_front()))
      return failure();
  Location loc = op.getLoc();
  int64_t channels = x.getShape().back(), groups = op.getGroups();
  bool isDepthwise = groups > 1 && groups == channels &&
                     type.getShape().back() == channels;
  Type element = productType(op);
  ElementsAttr packed = isDepthwise
                            ? lower::packDepthwiseWeights(weights)
                            : lower::packConvWeights(weights, groups, element);
  if (!packed)
    return failure();
  Value constant =
      arith::ConstantOp::create(rewriter, op.getW().getLoc(), packed);
  Value destination = lower::createWindowed(
      rewriter, loc, op.getX(), type, w.getShape().drop_front(2),
      op.getStrides(), op.getPads(), op.getDilations());
  SmallVector<Value> operands;
  if (op.getBias())
    operands.push_back(lower::expandBias(rewriter, op.getBias(), type.getRank()));
  Value src = castElements(rewriter, loc, op.getX(), element);
  Operation *kernel;
  if (isDepthwise)
    kernel = cpu::DepthwiseConvOp::create(
        rewriter, loc, type, src, constant, operands, destination,
        op.getStrides(), op.getPads(), op.getDilations());
  else
    kernel = cpu::ConvOp::create(rewriter, loc, type, src, constant,
                                 operands, destination, op.getStrides(),
                                 op.getPads(), op.getDilations(), groups);
  buildEpilogue(rewriter, loc, kernel->getRegion(0), type.getElementType(),
                !operands.empty());
  rewriter.replaceOp(op, kernel);
  return success();
}

/// As many kernels, mostly different ones, as a transposed convolution may
/// become: one for each phase of its strides.
static constexpr int64_t kMaxPhases = 64;

LogicalResult
ConvTransposePattern::matchAndRewrite(nn::ConvTransposeOp op,
                                      PatternRewriter &rewriter) const {
  RankedTensorType x = typeOf(op.getX()), type = op.getY().getType();
  ElementsAttr weights = nn::getConstant(op.getW());
  std::vector<char> storage;
  if (!op.getChannelsLast() || !lower::takesNative(op) || !weights ||
      !nn::getRawBytes(weights, storage) || type.getRank() > 5)
    return failure();
  for (RankedTensorType data : {x, type})
    if (ShapedType::isDynamicShape(data.getShape().drop_front()))
      return failure();
  int64_t phases = 1;
  for (int64_t stride : op.getStrides())
    if ((phases *= std::min(stride, kMaxPhases + 1)) > kMaxPhases)
      return failure();
  Location loc = op.getLoc();
  Value destination =
      lower::createDestination(rewriter, loc, type, [&](int64_t i) -> Value {
        return tensor::DimOp::create(rewriter, loc, op.getX(), i);
      });
  SmallVector<Value> operands;
  if (op.getBias())
    operands.push_back(lower::expandBias(rewriter, op.getBias(), type.getRank()));
  auto kernel = cpu::ConvTransposeOp::create(
      rewriter, loc, type, op.getX(), op.getW(), operands, destination,
      op.getStrides(), op.getPads().take_front(op.getStrides().size()),
      op.getDilations(), op.getGroups());
  buildEpilogue(rewriter, loc, kernel.getEpilogue(), type.getElementType(),
                !operands.empty());
  rewriter.replaceOp(op, kernel);
  return success();
}

/// The right factor of a product, known in a run only, in panels.
static Value packAtRunTime(OpBuilder &builder, Location loc, Value b,
                           bool transposed) {
  RankedTensorType type = typeOf(b);
  Type element = type.getElementType();
  int64_t rank = type.getRank(), group = cpu::groupOf(element);
  int64_t n = transposed ? rank - 2 : rank - 1, k = 2 * rank - 3 - n;
  int64_t columns = type.getDimSize(n), width = lower::panelWidth(columns);
  int64_t panels = llvm::divideCeil(columns, width);
  int64_t depth = type.getDimSize(k), groups = llvm::divideCeil(depth, group);
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  high[n] = panels * width - columns;
  high[k] = groups * group - depth;
  if (high[n] || high[k])
    b = lower::pad(builder, loc, b, low, high,
                   lower::scalar(builder, loc, element, 0));
  // …, K / g, g, panels, P or …, panels, P, K / g, g; g where it is not 1.
  SmallVector<int64_t> shape, dims;
  SmallVector<ReassociationIndices> reassociation;
  int64_t at[4] = {};
  for (int64_t i = 0; i < rank; ++i) {
    int64_t first = shape.size();
    if (i == n) {
      at[0] = first;
      at[2] = first + 1;
      shape.append({panels, width});
    } else if (i == k) {
      at[1] = first;
      shape.push_back(groups);
      if (group > 1) {
        at[3] = first + 1;
        shape.push_back(group);
      }
    } else {
      shape.push_back(type.getDimSize(i));
    }
    auto parts = llvm::seq<int64_t>(first, shape.size());
    reassociation.emplace_back(parts.begin(), parts.end());
  }
  Value split = tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, element), b, reassociation);
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(rank - 2));
  perm.append(at, at + (group > 1 ? 4 : 3));
  return lower::transpose(builder, loc, split, perm);
}

LogicalResult MatMulPattern::matchAndRewrite(nn::MatMulOp op,
                                             PatternRewriter &rewriter) const {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  RankedTensorType type = op.getY().getType();
  int64_t rank = a.getRank();
  if (!lower::takesNative(op) || op.getTransposeA() || type.getRank() != rank ||
      rank < 2 || ShapedType::isDynamic(a.getShape().back()) ||
      !b.hasStaticShape())
    return failure();
  // One right factor for all batches, or one for each.
  bool isShared = b.getRank() == 2;
  if (!isShared && (b.getRank() != rank ||
                    a.getShape().drop_back(2) != b.getShape().drop_back(2)))
    return failure();
  if (a.getShape().drop_back(1) != type.getShape().drop_back(1))
    return failure();
  Location loc = op.getLoc();
  Type element = productType(op);
  Value weights;
  if (ElementsAttr constant = nn::getConstant(op.getB())) {
    ElementsAttr packed =
        lower::packMatMulWeights(constant, op.getTransposeB(), element);
    if (!packed)
      return failure();
    weights = arith::ConstantOp::create(rewriter, op.getB().getLoc(), packed);
  } else {
    weights = packAtRunTime(
        rewriter, loc, castElements(rewriter, loc, op.getB(), element),
        op.getTransposeB());
  }
  Value bias = op.getBias();
  bool isVector = bias && typeOf(bias).getRank() == 1 &&
                  typeOf(bias).getShape() == type.getShape().take_back();
  SmallVector<Value> operands;
  if (isVector)
    operands.push_back(lower::expandBias(rewriter, bias, rank));
  Value destination = lower::createDestination(
      rewriter, loc, type, [&](int64_t i) -> Value {
        return tensor::DimOp::create(rewriter, loc, op.getA(), i);
      });
  auto product = cpu::MatMulOp::create(
      rewriter, loc, type, castElements(rewriter, loc, op.getA(), element),
      weights, operands, destination);
  buildEpilogue(rewriter, loc, product.getEpilogue(), type.getElementType(),
                isVector);
  Value result = product.getResult();
  if (bias && !isVector)
    result = nn::AddOp::create(rewriter, loc, type, result, bias);
  rewriter.replaceOp(op, result);
  return success();
}
