//===- ElementwiseToLinalg.cpp - elementwise ops as linalg.generic --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// The way in which one result dimension is read from the operands.
struct ResultDim {
  /// The size of the dimension.
  Value size;
  /// Operands that may have to be broadcast, because their size in this
  /// dimension is dynamic.
  llvm::SmallBitVector maybeBroadcast;
};

struct LowerElementwise
    : OpInterfaceConversionPattern<nn::ElementwiseOpInterface> {
  LowerElementwise(const TypeConverter &converter, MLIRContext *context,
                   const shape::SameSizes &sizes)
      : OpInterfaceConversionPattern(converter, context), sizes(sizes) {}

  LogicalResult
  matchAndRewrite(nn::ElementwiseOpInterface op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override;

  const shape::SameSizes &sizes;
};

} // namespace

/// Decides the size and the broadcasting of result dimension `dim`. Sizes come
/// from the original operands of the op. Elements come from the converted
/// `operands`.
static ResultDim analyze(OpBuilder &builder, Operation *op,
                         ArrayRef<Value> operands, int64_t dim,
                         const shape::SameSizes &sizes) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  struct Candidate {
    unsigned operand;
    int64_t dim;
  };
  SmallVector<Candidate> candidates;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    int64_t at = dim - (result.getRank() - typeOf(operand).getRank());
    if (at >= 0 && typeOf(operand).getDimSize(at) != 1)
      candidates.push_back({unsigned(i), at});
  }
  auto isStatic = [&](Candidate c) {
    return !typeOf(op->getOperand(c.operand)).isDynamicDim(c.dim);
  };
  auto isSame = [&](Candidate a, Candidate b) {
    return sizes.isSame(op->getOperand(a.operand), a.dim,
                        op->getOperand(b.operand), b.dim);
  };

  ResultDim out;
  out.maybeBroadcast.resize(operands.size());
  Location loc = op->getLoc();
  auto size = [&](Candidate c) {
    return sizeOf(builder, loc, operands[c.operand], c.dim);
  };
  auto known = llvm::find_if(candidates, isStatic);
  if (candidates.empty()) {
    out.size = arith::ConstantIndexOp::create(builder, loc, 1);
    return out;
  }
  if (known != candidates.end()) {
    out.size = size(*known);
    for (Candidate c : candidates)
      if (!isSame(*known, c))
        out.maybeBroadcast.set(c.operand);
    return out;
  }
  out.size = size(candidates.front());
  if (llvm::all_of(candidates,
                   [&](Candidate c) { return isSame(candidates.front(), c); }))
    return out;
  // An operand of one element is repeated once for each element of the other
  // operands. The others may have no elements.
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  for (Candidate c : candidates) {
    out.maybeBroadcast.set(c.operand);
    Value single = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, out.size, one);
    out.size =
        arith::SelectOp::create(builder, loc, single, size(c), out.size);
  }
  return out;
}

/// Reads an operand inside the body. A dimension of one element is read at
/// index 0.
static Value extractBroadcast(OpBuilder &b, Location loc, Value operand,
                              int64_t resultRank) {
  SmallVector<Value> indices;
  int64_t rank = typeOf(operand).getRank();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  for (int64_t i = 0; i < rank; ++i) {
    Value index = linalg::IndexOp::create(b, loc, i + resultRank - rank);
    Value single = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                         sizeOf(b, loc, operand, i), one);
    indices.push_back(arith::SelectOp::create(b, loc, single, zero, index));
  }
  return tensor::ExtractOp::create(b, loc, operand, indices);
}

LogicalResult
LowerElementwise::matchAndRewrite(nn::ElementwiseOpInterface op,
                                  ArrayRef<Value> operands,
                                  ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(
      getTypeConverter()->convertType(op->getResult(0).getType()));
  int64_t rank = type.getRank();

  SmallVector<Value> sizes;
  SmallVector<bool> extracted(operands.size(), false);
  for (int64_t i = 0; i < rank; ++i) {
    ResultDim dim = analyze(rewriter, op, operands, i, this->sizes);
    if (type.isDynamicDim(i))
      sizes.push_back(dim.size);
    for (unsigned operand : dim.maybeBroadcast.set_bits())
      extracted[operand] = true;
  }

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (auto [operand, isExtracted] : llvm::zip_equal(operands, extracted)) {
    if (isExtracted)
      continue;
    RankedTensorType source = typeOf(operand);
    SmallVector<AffineExpr> exprs;
    for (int64_t i = 0; i < source.getRank(); ++i) {
      int64_t at = i + rank - source.getRank();
      bool broadcast = source.getDimSize(i) == 1 && type.getDimSize(at) != 1;
      exprs.push_back(broadcast ? rewriter.getAffineConstantExpr(0)
                                : rewriter.getAffineDimExpr(at));
    }
    inputs.push_back(operand);
    maps.push_back(AffineMap::get(rank, 0, exprs, rewriter.getContext()));
  }

  bool isDefined = true;
  Value init = createEmpty(rewriter, loc, type, sizes);
  Value result = createGeneric(
      rewriter, loc, init, inputs, maps,
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        SmallVector<Value> scalars;
        unsigned next = 0;
        for (auto [i, operand] : llvm::enumerate(operands))
          scalars.push_back(extracted[i]
                                ? extractBroadcast(b, loc, operand, rank)
                                : args[next++]);
        Value value = op.buildScalar(b, scalars);
        isDefined = value != nullptr;
        return isDefined ? value : args.back();
      });
  if (!isDefined)
    return rewriter.notifyMatchFailure(op, "no scalar code for the type");
  rewriter.replaceOp(op, result);
  return success();
}

void loops::populateElementwiseToLinalg(RewritePatternSet &patterns,
                                        const TypeConverter &converter,
                                        const shape::SameSizes &sizes) {
  patterns.add<LowerElementwise>(converter, patterns.getContext(), sizes);
}
