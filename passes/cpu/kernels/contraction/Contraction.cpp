//===- Contraction.cpp - indices and elements of a product ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/contraction/Contraction.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/support/Contractions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Contraction::Contraction(OpBuilder &builder, linalg::GenericOp op)
    : b{builder, op.getLoc()}, op(op), target(TargetInfo::of(op)),
      element(getElementTypeOrSelf(op->getOperand(2))),
      lanes(target.lanes * 32 / element.getIntOrFloatBitWidth()),
      row(op.getNumLoops() - 3), k(row + 1), column(row + 2),
      width(kVectors * lanes), step(multipliesPairs() ? 2 : 1) {
  panel = createScratch(b, kPanels * kDepth * width, element);
  auto loops = cast<linalg::LinalgOp>(*op);
  for (const Range &range : loops.createLoopRanges(b.b, b.loc)) {
    if (std::optional<int64_t> known = getConstantIntValue(range.size))
      sizes.push_back(*known);
    else
      sizes.push_back(Index(cast<Value>(range.size)));
  }
  batch.resize(row);
}

Index Contraction::valueOf(AffineExpr expr, Index rowAt, Index kAt,
                           Index columnAt) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    int64_t loop = dim.getPosition();
    return loop == row      ? rowAt
           : loop == k      ? kAt
           : loop == column ? columnAt
                            : batch[loop];
  }
  auto both = cast<AffineBinaryOpExpr>(expr);
  Index left = valueOf(both.getLHS(), rowAt, kAt, columnAt),
        right = valueOf(both.getRHS(), rowAt, kAt, columnAt);
  return expr.getKind() == AffineExprKind::Add ? b.add(left, right)
                                               : b.mul(left, right);
}

SmallVector<Value> Contraction::at(int64_t operand, Index rowAt, Index kAt,
                                   Index columnAt) {
  SmallVector<Value> found;
  for (AffineExpr result : map(operand).getResults())
    found.push_back(b.get(valueOf(result, rowAt, kAt, columnAt)));
  return found;
}

Value Contraction::widen(int64_t operand, Value loaded) {
  if (getElementTypeOrSelf(loaded) == element)
    return loaded;
  Type to = element;
  if (auto type = dyn_cast<VectorType>(loaded.getType()))
    to = type.clone(element);
  if (isa<FloatType>(element))
    return arith::ExtFOp::create(b.b, b.loc, to, loaded);
  bool isUnsigned = llvm::any_of(op.getBody()->getArgument(operand).getUsers(),
                                 llvm::IsaPred<arith::ExtUIOp>);
  if (isUnsigned)
    return arith::ExtUIOp::create(b.b, b.loc, to, loaded);
  return arith::ExtSIOp::create(b.b, b.loc, to, loaded);
}

Value Contraction::multiplyAdd(Value x, Value y, Value sum) {
  bool isVector = isa<VectorType>(x.getType());
  if (isa<FloatType>(element) && isVector)
    return multiplyAddVectors(b, target.hasFMA, x, y, sum);
  if (isa<FloatType>(element)) {
    auto fused = arith::FastMathFlags::contract;
    Value product = arith::MulFOp::create(b.b, b.loc, x, y, fused);
    return arith::AddFOp::create(b.b, b.loc, sum, product, fused);
  }
  return arith::AddIOp::create(b.b, b.loc, sum,
                               arith::MulIOp::create(b.b, b.loc, x, y));
}

Value Contraction::loadFactor(int64_t operand, ArrayRef<Value> at) {
  Value loaded =
      memref::LoadOp::create(b.b, b.loc, op->getOperand(operand), at);
  return widen(operand, loaded);
}

Value Contraction::loadFactors(ArrayRef<Value> at, int64_t lanes, Value mask) {
  Value factor = op->getOperand(1);
  auto type = VectorType::get({lanes}, getElementTypeOrSelf(factor));
  if (!mask)
    return widen(1, vector::LoadOp::create(b.b, b.loc, type, factor, at));
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return widen(1, vector::MaskedLoadOp::create(b.b, b.loc, type, factor, at,
                                               mask, zero));
}

Value Contraction::loadPiece(ArrayRef<Value> at, Value mask) {
  Value result = op->getOperand(2);
  auto type = VectorType::get({lanes}, element);
  if (!mask)
    return vector::LoadOp::create(b.b, b.loc, type, result, at);
  Value zero = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  return vector::MaskedLoadOp::create(b.b, b.loc, type, result, at, mask, zero);
}

/// Returns a mask for each vector of a panel; null for a whole panel.
SmallVector<Value> Contraction::masksOf(Index columns, bool isWhole) {
  SmallVector<Value> masks(kVectors);
  for (int64_t v = 0; v < kVectors && !isWhole; ++v)
    masks[v] = maskOfFirst(b, lanes, b.add(columns, -v * lanes));
  return masks;
}

bool Contraction::multipliesPairs() {
  return llvm::all_of(op.getDpsInputs(),
                      [](Value factor) {
                        return getElementTypeOrSelf(factor).isInteger(16);
                      }) &&
         support::isRow(op->getOperand(0).getType()) &&
         map(0).getResults().back() == getAffineDimExpr(k, op.getContext());
}

Value Contraction::joinWords(Value low, Value high) {
  Type word = getElementTypeOrSelf(low), to = element;
  if (auto type = dyn_cast<VectorType>(low.getType()))
    to = type.clone(element);
  low = arith::ExtUIOp::create(b.b, b.loc, to, low);
  if (!high)
    return low;
  high = arith::ExtUIOp::create(b.b, b.loc, to, high);
  auto bits = b.b.getIntegerAttr(element, word.getIntOrFloatBitWidth());
  Value shift =
      isa<VectorType>(to)
          ? Value(arith::ConstantOp::create(
                b.b, b.loc, DenseElementsAttr::get(cast<VectorType>(to), bits)))
          : Value(arith::ConstantOp::create(b.b, b.loc, bits));
  high = arith::ShLIOp::create(b.b, b.loc, high, shift);
  return arith::OrIOp::create(b.b, b.loc, low, high);
}

bool Contraction::isOuter(int64_t loop) {
  return map(1).isFunctionOfDim(loop) ||
         op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
}

void Contraction::forEachPlace(bool isOuterLoop,
                               llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(b.b);
  for (int64_t i = 0; i < row; ++i) {
    if (isOuter(i) != isOuterLoop)
      continue;
    auto loop =
        scf::ForOp::create(b.b, b.loc, b.get(0), b.get(sizes[i]), b.get(1));
    batch[i] = Index(loop.getInductionVar());
    b.b.setInsertionPointToStart(loop.getBody());
  }
  body();
}
