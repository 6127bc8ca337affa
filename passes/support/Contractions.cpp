//===- Contractions.cpp - recognition of matrix products ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Returns the source of widening casts, or the value itself.
static Value narrowOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns the factors of the product that the body adds to its accumulator.
/// Returns none if the body does something else.
static SmallVector<Value> factorsOf(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  Operation *end = body->getTerminator();
  if (op.getNumDpsInits() != 1 || end->getNumOperands() != 1)
    return {};
  Operation *sum = end->getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum))
    return {};
  Value other = sum->getOperand(0), added = sum->getOperand(1);
  if (other != body->getArguments().back())
    std::swap(other, added);
  Operation *product = added.getDefiningOp();
  if (other != body->getArguments().back() || !product ||
      !isa<arith::MulFOp, arith::MulIOp>(product))
    return {};
  return {product->getOperand(0), product->getOperand(1)};
}

bool support::isSumOfProducts(linalg::LinalgOp op) {
  return op.getNumReductionLoops() != 0 && !factorsOf(op).empty();
}

bool support::isRow(Type memref) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(
             cast<MemRefType>(memref).getStridesAndOffset(strides, offset)) &&
         !strides.empty() && strides.back() == 1;
}

/// Returns true if the body multiplies the first operand by the second. Types
/// are f32, f64 or i32; or bf16 widened to f32; or int8 or int16 widened to
/// i32.
static bool multipliesOperands(linalg::LinalgOp op) {
  SmallVector<Value> factors = factorsOf(op);
  if (factors.size() != 2)
    return false;
  for (auto [i, factor] : llvm::enumerate(factors)) {
    Value narrow = narrowOf(factor);
    Type type = factor.getType(), from = narrow.getType();
    if (narrow != op.getBlock()->getArgument(i) ||
        !(type.isF32() || type.isF64() || type.isInteger(32)) ||
        !(from == type || (type.isF32() && from.isBF16()) ||
          (type.isInteger(32) && (from.isInteger(8) || from.isInteger(16)))))
      return false;
  }
  return true;
}

/// Returns true if an expression is a sum of loops times constants and a
/// constant.
static bool isLinear(AffineExpr expr) {
  if (isa<AffineDimExpr, AffineConstantExpr>(expr))
    return true;
  auto both = dyn_cast<AffineBinaryOpExpr>(expr);
  return both &&
         (expr.getKind() == AffineExprKind::Add ||
          expr.getKind() == AffineExprKind::Mul) &&
         isLinear(both.getLHS()) && isLinear(both.getRHS());
}

bool support::hasTiledProductLoops(linalg::LinalgOp op) {
  int64_t loops = op.getNumLoops();
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || loops < 3 ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>) ||
      !multipliesOperands(op))
    return false;
  int64_t row = loops - 3, k = loops - 2, column = loops - 1;
  auto kinds = op.getIteratorTypesArray();
  auto isParallel = [&](int64_t loop) {
    return kinds[loop] == utils::IteratorType::parallel;
  };
  // Other loops are batches or the taps of a convolution.
  if (!isParallel(row) || isParallel(k) || !isParallel(column))
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  // The left factor may have any stride, because it is read one element at a
  // time.
  if (!llvm::all_of(maps[0].getResults(), isLinear))
    return false;
  for (AffineMap map : ArrayRef(maps).drop_front())
    for (AffineExpr result : map.getResults())
      if (!isa<AffineDimExpr>(result) && result != 0)
        return false;
  auto has = [&](int64_t operand, int64_t loop) {
    return maps[operand].isFunctionOfDim(loop);
  };
  AffineExpr last = maps[1].getResults().back();
  AffineExpr columnExpr = getAffineDimExpr(column, op.getContext());
  return has(0, row) && has(0, k) && !has(0, column) && !has(1, row) &&
         has(1, k) && has(1, column) && has(2, row) &&
         maps[2].getResults().back() == columnExpr &&
         (last == columnExpr || last == getAffineDimExpr(k, op.getContext()));
}

bool support::isTiledProduct(linalg::LinalgOp op) {
  return op.hasPureBufferSemantics() && hasTiledProductLoops(op) &&
         isRow(op->getOperand(1).getType()) &&
         isRow(op->getOperand(2).getType());
}
