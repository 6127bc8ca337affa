//===- MatMulToLinalg.cpp - matmul as a contraction -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

Value support::contract(OpBuilder &b, Location loc, ValueRange factors,
                        Value init, ArrayRef<AffineMap> maps,
                        ArrayRef<utils::IteratorType> iterators) {
  Type type = typeOf(init).getElementType();
  bool isFloat = isa<FloatType>(type);
  auto widen = [&](OpBuilder &b, Location loc, Value x) -> Value {
    if (x.getType() == type)
      return x;
    if (isFloat)
      return arith::ExtFOp::create(b, loc, type, x);
    return arith::ExtSIOp::create(b, loc, type, x);
  };
  return linalg::GenericOp::create(
             b, loc, init.getType(), factors, init, maps, iterators,
             [&](OpBuilder &b, Location loc, ValueRange args) {
               Value product = mulScalars(b, loc, widen(b, loc, args[0]),
                                          widen(b, loc, args[1]));
               linalg::YieldOp::create(
                   b, loc, addScalars(b, loc, args[2], product));
             })
      .getResult(0);
}

Value support::narrow(OpBuilder &b, Location loc, Value tensor, Type type) {
  if (typeOf(tensor).getElementType() == type)
    return tensor;
  Value init = empty(b, loc, sizesOf(b, loc, tensor), type);
  AffineMap map = b.getMultiDimIdentityMap(typeOf(tensor).getRank());
  return createGeneric(b, loc, init, tensor, map,
                       [&](OpBuilder &b, Location loc, ValueRange args) {
                         return convertScalar(b, loc, args[0], type, false,
                                              false);
                       });
}

Value support::startSum(OpBuilder &b, Location loc,
                        ArrayRef<OpFoldResult> sizes, Type type, Value bias,
                        ArrayRef<int64_t> biasDims) {
  if (!bias)
    return filled(b, loc, sizes, scalar(b, loc, type, 0));
  SmallVector<AffineExpr> exprs;
  for (auto [i, dim] : llvm::enumerate(biasDims)) {
    bool repeats = typeOf(bias).getDimSize(i) == 1 &&
                   getConstantIntValue(sizes[dim]) != 1;
    exprs.push_back(repeats ? b.getAffineConstantExpr(0)
                            : b.getAffineDimExpr(dim));
  }
  Value init = empty(b, loc, sizes, type);
  return createGeneric(b, loc, init, bias,
                       AffineMap::get(sizes.size(), 0, exprs, b.getContext()),
                       [&](OpBuilder &b, Location loc, ValueRange args) {
                         return convertScalar(b, loc, args[0], type, false,
                                              false);
                       });
}

/// Returns bytes as int16, because one instruction multiplies and adds pairs of
/// int16. Returns elements of other types unchanged.
static Value asInt16(OpBuilder &b, Location loc, Value tensor, Type source) {
  if (!nn::isByte(source))
    return tensor;
  Type word = b.getI16Type();
  Value init = empty(b, loc, sizesOf(b, loc, tensor), word);
  bool isUnsigned = source.isUnsignedInteger();
  return createGeneric(
      b, loc, init, tensor, b.getMultiDimIdentityMap(typeOf(tensor).getRank()),
      [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
        if (isUnsigned)
          return arith::ExtUIOp::create(b, loc, word, args[0]);
        return arith::ExtSIOp::create(b, loc, word, args[0]);
      });
}

namespace {

struct LowerMatMul : OpConversionPattern<nn::MatMulOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::MatMulOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

LogicalResult
LowerMatMul::matchAndRewrite(nn::MatMulOp op, OpAdaptor adaptor,
                             ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  RankedTensorType type = signless(getTypeConverter(), op);
  Value a = asInt16(rewriter, loc, adaptor.getA(),
                    typeOf(op.getA()).getElementType());
  Value w = asInt16(rewriter, loc, adaptor.getB(),
                    typeOf(op.getB()).getElementType());
  int64_t rank = type.getRank();

  // The loops are batch…, i, k, j, so that the innermost loop runs along rows
  // of b and of the result. If b is transposed, its rows are along k, so k is
  // the innermost loop. A product with register tiles keeps j innermost,
  // because its tiles transpose b. A product with a single row gets no register
  // tiles (cpu-contractions-to-vector).
  int64_t batch = rank - 2;
  Type element = typeOf(a).getElementType();
  bool endsWithSum = op.getTransposeB() && !op.getTransposeA() &&
                     (type.getDimSize(batch) == 1 ||
                      !isa<Float32Type, Float64Type, BFloat16Type>(element));
  int64_t inner = batch + (endsWithSum ? 2 : 1);
  AffineExpr i = rewriter.getAffineDimExpr(batch),
             k = rewriter.getAffineDimExpr(inner),
             j = rewriter.getAffineDimExpr(2 * batch + 3 - inner);
  auto operandMap = [&](Value operand, AffineExpr row, AffineExpr column,
                        bool transposed) {
    int64_t dims = typeOf(operand).getRank() - 2;
    SmallVector<AffineExpr> exprs;
    for (int64_t d = 0; d < dims; ++d) {
      int64_t at = d + batch - dims;
      bool repeats = typeOf(operand).getDimSize(d) == 1 &&
                     type.getDimSize(at) != 1;
      exprs.push_back(repeats ? rewriter.getAffineConstantExpr(0)
                              : rewriter.getAffineDimExpr(at));
    }
    if (transposed)
      std::swap(row, column);
    exprs.append({row, column});
    return AffineMap::get(rank + 1, 0, exprs, getContext());
  };
  SmallVector<AffineMap> maps = {
      operandMap(a, i, k, op.getTransposeA()),
      operandMap(w, k, j, op.getTransposeB())};
  SmallVector<AffineExpr> exprs;
  for (int64_t d = 0; d < batch; ++d)
    exprs.push_back(rewriter.getAffineDimExpr(d));
  exprs.append({i, j});
  maps.push_back(AffineMap::get(rank + 1, 0, exprs, getContext()));
  SmallVector<utils::IteratorType> iterators(rank + 1,
                                             utils::IteratorType::parallel);
  iterators[inner] = utils::IteratorType::reduction;

  SmallVector<int64_t> biasDims;
  if (Value bias = adaptor.getBias())
    for (int64_t d = rank - typeOf(bias).getRank(); d < rank; ++d)
      biasDims.push_back(d);
  Value init =
      startSum(rewriter, loc, resultSizes(rewriter, op->getResult(0)),
               computeType(type.getElementType()),
               adaptor.getBias(), biasDims);
  Value y = contract(rewriter, loc, {a, w}, init, maps, iterators);
  y = narrow(rewriter, loc, y, type.getElementType());
  rewriter.replaceOp(op, castTo(rewriter, loc, y, type));
  return success();
}

void loops::populateMatMulToLinalg(RewritePatternSet &patterns,
                                   const TypeConverter &converter) {
  patterns.add<LowerMatMul>(converter, patterns.getContext());
}
