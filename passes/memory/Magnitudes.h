//===- Magnitudes.h - magnitudes of sizes and their parts -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the magnitude of a size: the size with |x| instead of each operand
// x, and with + instead of each -. No intermediate value exceeds the magnitude,
// unless it is multiplied by 0.
//
// A domain defines the representation of magnitudes. It provides `constant`,
// `add`, `multiply`, `larger`, `sizeOf` for a dimension of an input, and
// `other` for any other value, which may be unknown.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_MAGNITUDES_H
#define INGOT_PASSES_MEMORY_MAGNITUDES_H

#include "passes/memory/BufferSizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <cmath>

namespace ingot {

/// Returns true if an op computes a size that may overflow.
inline bool isSizeArithmetic(mlir::Operation *op) {
  using namespace mlir;
  return isa<affine::AffineApplyOp, arith::AddIOp, arith::SubIOp,
             arith::MulIOp>(op) &&
         (op->getResult(0).getType().isIndex() ||
          op->getResult(0).getType().isInteger(64));
}

/// Computes the magnitudes of values, in the representation that `Domain`
/// defines.
template <typename Domain>
class Magnitudes {
  using Number = std::optional<typename Domain::Number>;

public:
  /// With `ofInputs`, only sizes of inputs are known. A minimum, maximum or
  /// select then gets a magnitude from its operands. Without `ofInputs`,
  /// `other` gives the magnitude of a minimum, maximum or select. Data may then
  /// decide the value, which may be far from both operands.
  Magnitudes(Domain &domain, bool ofInputs)
      : domain(domain), ofInputs(ofInputs) {}

  Number of(mlir::Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    if (depth == kMaxDepth)
      return other(value);
    ++depth;
    Number number = find(value);
    --depth;
    known[value] = number;
    return number;
  }

private:
  /// Limit of computation steps. Sizes that need more steps count as unknown,
  /// like data.
  static constexpr int kMaxDepth = 64;
  /// Limit of nested minima and maxima that clamp a value from data.
  static constexpr int kMaxClamps = 4;
  /// Limit of constants that clamp a value from data. Products of larger
  /// constants with sizes would seem to overflow for any data.
  static constexpr int64_t kMaxHeld = 1 << 16;

  Number other(mlir::Value value) {
    return ofInputs ? std::nullopt : Number(domain.other(value));
  }
  Number find(mlir::Value value);
  /// Bounds of a value: its distance above 0 and its distance below 0.
  struct Sides {
    Number above, below;
  };
  Sides sidesOf(mlir::Value value, int depth);
  Number ofDim(mlir::memref::DimOp op);
  Number ofExpr(mlir::AffineExpr expr, mlir::ValueRange dims,
                mlir::ValueRange symbols);
  Number add(Number a, Number b) {
    return a && b ? Number(domain.add(*a, *b)) : Number();
  }
  Number multiply(Number a, Number b) {
    return a && b ? Number(domain.multiply(*a, *b)) : Number();
  }
  Number larger(Number a, Number b) {
    return a && b ? Number(domain.larger(*a, *b)) : Number();
  }

  Domain &domain;
  bool ofInputs;
  int depth = 0;
  llvm::DenseMap<mlir::Value, Number> known;
};

template <typename Domain>
auto Magnitudes<Domain>::ofDim(mlir::memref::DimOp op) -> Number {
  using namespace mlir;
  std::optional<int64_t> dim = op.getConstantIndex();
  Value memref = op.getSource();
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!dim || !type || *dim < 0 || *dim >= type.getRank())
    return other(op);
  if (!type.isDynamicDim(*dim))
    return domain.constant(double(type.getDimSize(*dim)));
  if (auto input = dyn_cast<BlockArgument>(memref))
    return isa<func::FuncOp>(input.getOwner()->getParentOp())
               ? Number(domain.sizeOf(input, *dim))
               : other(op);
  SmallVector<OpFoldResult> sizes = sizesOfBuffer(memref);
  if (sizes.empty())
    return other(op);
  if (auto number = getConstantIntValue(sizes[*dim]))
    return domain.constant(std::abs(double(*number)));
  return of(cast<Value>(sizes[*dim]));
}

template <typename Domain>
auto Magnitudes<Domain>::ofExpr(mlir::AffineExpr expr, mlir::ValueRange dims,
                                mlir::ValueRange symbols) -> Number {
  using namespace mlir;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return domain.constant(std::abs(double(constant.getValue())));
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return of(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return of(symbols[symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Number a = ofExpr(binary.getLHS(), dims, symbols);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return add(a, ofExpr(binary.getRHS(), dims, symbols));
  case AffineExprKind::Mul:
    return multiply(a, ofExpr(binary.getRHS(), dims, symbols));
  default:
    // A quotient or remainder is not larger than its dividend. Return the
    // dividend's magnitude, because intermediate values of the dividend have to
    // fit as well.
    return a;
  }
}

template <typename Domain>
auto Magnitudes<Domain>::sidesOf(mlir::Value value, int depth) -> Sides {
  using namespace mlir;
  if (auto number = getConstantIntValue(value)) {
    if (*number > kMaxHeld || *number < -kMaxHeld)
      return {};
    return {domain.constant(std::max(double(*number), 0.0)),
            domain.constant(std::max(-double(*number), 0.0))};
  }
  Operation *op = value.getDefiningOp();
  if (depth == 0 || !isa_and_nonnull<arith::MaxSIOp, arith::MinSIOp>(op)) {
    if (isa_and_nonnull<memref::DimOp>(op))
      return {of(value), domain.constant(0)};
    return {of(value), of(value)};
  }
  Sides a = sidesOf(op->getOperand(0), depth - 1),
        b = sidesOf(op->getOperand(1), depth - 1);
  // The upper bound of a minimum is any of the two upper bounds. The lower
  // bound of a minimum is the lower one of both lower bounds.
  auto either = [&](Number x, Number y) {
    return x && y ? larger(x, y) : x ? x : y;
  };
  if (isa<arith::MinSIOp>(op))
    return {either(a.above, b.above), larger(a.below, b.below)};
  return {larger(a.above, b.above), either(a.below, b.below)};
}

template <typename Domain>
auto Magnitudes<Domain>::find(mlir::Value value) -> Number {
  using namespace mlir;
  if (auto number = getConstantIntValue(value))
    return domain.constant(std::abs(double(*number)));
  Operation *op = value.getDefiningOp();
  if (!op)
    return other(value);
  auto operand = [&](unsigned i) { return of(op->getOperand(i)); };
  if (auto dim = dyn_cast<memref::DimOp>(op))
    return ofDim(dim);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return ofExpr(map.getResult(0),
                  apply.getMapOperands().take_front(map.getNumDims()),
                  apply.getMapOperands().drop_front(map.getNumDims()));
  }
  if (isa<affine::AffineMaxOp, affine::AffineMinOp>(op)) {
    auto max = dyn_cast<affine::AffineMaxOp>(op);
    AffineMap map = max ? max.getMap() : cast<affine::AffineMinOp>(op).getMap();
    Number most = ofInputs ? Number(domain.constant(0)) : Number();
    for (AffineExpr expr : map.getResults())
      if (most)
        most = larger(
            most, ofExpr(expr, op->getOperands().take_front(map.getNumDims()),
                         op->getOperands().drop_front(map.getNumDims())));
    return most ? most : other(value);
  }
  if (isa<arith::IndexCastOp>(op) &&
      (value.getType().isInteger(64) ||
       op->getOperand(0).getType().isInteger(64)))
    return operand(0);
  if (isSizeArithmetic(op))
    return isa<arith::MulIOp>(op) ? multiply(operand(0), operand(1))
                                  : add(operand(0), operand(1));
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return operand(0);
  if (ofInputs &&
      isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op)) {
    if (Number both = larger(operand(0), operand(1)))
      return both;
    // A value from data may be clamped by sizes.
    Sides sides = sidesOf(value, kMaxClamps);
    return larger(sides.above, sides.below);
  }
  if (auto choice = dyn_cast<arith::SelectOp>(op); choice && ofInputs)
    return larger(operand(1), operand(2));
  return other(value);
}

/// Returns the magnitude of a size, or nullopt if it depends on more than the
/// sizes of inputs.
template <typename Domain>
std::optional<typename Domain::Number> magnitudeOfInputs(Domain &domain,
                                                         mlir::Value size) {
  return Magnitudes<Domain>(domain, /*ofInputs=*/true).of(size);
}

/// Returns the magnitude of any size.
template <typename Domain>
typename Domain::Number magnitudeOf(Domain &domain, mlir::Value size) {
  return *Magnitudes<Domain>(domain, /*ofInputs=*/false).of(size);
}

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_MAGNITUDES_H
