//===- ScalarBuilder.h - scalar arithmetic ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_SCALARBUILDER_H
#define INGOT_PASSES_SUPPORT_SCALARBUILDER_H

#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ingot::support {

/// Short names for scalar arithmetic on indices and f32, or f64 if `isWide`.
struct Scalars {
  OpBuilder &b;
  Location loc;
  bool isWide = false;

  Type real() { return isWide ? Type(b.getF64Type()) : Type(b.getF32Type()); }
  Value f(double value) { return scalar(b, loc, real(), value); }
  Value n(int64_t value) { return indexConstant(b, loc, value); }
  Value add(Value x, Value y) { return addScalars(b, loc, x, y); }
  Value mul(Value x, Value y) { return mulScalars(b, loc, x, y); }
  Value sub(Value x, Value y) {
    if (mlir::isa<mlir::FloatType>(x.getType()))
      return mlir::arith::SubFOp::create(b, loc, x, y);
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  Value div(Value x, Value y) {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  /// Returns the smaller or larger operand. If one operand is NaN, returns the
  /// other.
  Value min(Value x, Value y) {
    return mlir::arith::MinNumFOp::create(b, loc, x, y);
  }
  Value max(Value x, Value y) {
    return mlir::arith::MaxNumFOp::create(b, loc, x, y);
  }
  Value exp(Value x) { return mlir::math::ExpOp::create(b, loc, x); }
  Value floor(Value x) { return mlir::math::FloorOp::create(b, loc, x); }
  Value ceil(Value x) { return mlir::math::CeilOp::create(b, loc, x); }
  Value clamp(Value x, Value low, Value high) {
    x = mlir::arith::MaxSIOp::create(b, loc, x, low);
    return mlir::arith::MinSIOp::create(b, loc, x, high);
  }
  Value toFloat(Value index) {
    Value wide =
        mlir::arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    return mlir::arith::SIToFPOp::create(b, loc, real(), wide);
  }
  Value toIndex(Value x) {
    Value wide = mlir::arith::FPToSIOp::create(b, loc, b.getI64Type(), x);
    return mlir::arith::IndexCastOp::create(b, loc, b.getIndexType(), wide);
  }
  Value bit(bool value) {
    return mlir::arith::ConstantIntOp::create(b, loc, value, 1);
  }
  Value compare(mlir::arith::CmpIPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value either(Value x, Value y) {
    return mlir::arith::OrIOp::create(b, loc, x, y);
  }
  Value isBelow(Value x, Value y) {
    return mlir::arith::CmpFOp::create(b, loc, mlir::arith::CmpFPredicate::OLT,
                                       x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  using Body =
      llvm::function_ref<llvm::SmallVector<Value>(Value i, mlir::ValueRange)>;
  /// Creates a loop. `body` computes the next state from the state of a step.
  llvm::SmallVector<Value> loop(Value from, Value to, int64_t step,
                                mlir::ValueRange state, Body body) {
    auto loop = mlir::scf::ForOp::create(
        b, loc, from, to, n(step), state,
        [&](OpBuilder &, Location, Value i, mlir::ValueRange state) {
          mlir::scf::YieldOp::create(b, loc, body(i, state));
        });
    return loop.getResults();
  }
  llvm::SmallVector<Value> loop(Value from, Value to, mlir::ValueRange state,
                                Body body) {
    return loop(from, to, 1, state, body);
  }
  /// Returns the comparison `p predicate q` ? x : y for indices p and q.
  Value choose(mlir::arith::CmpIPredicate predicate, Value p, Value q, Value x,
               Value y) {
    Value condition = mlir::arith::CmpIOp::create(b, loc, predicate, p, q);
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
};

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_SCALARBUILDER_H
