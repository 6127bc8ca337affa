//===- Resampling.h - where resized elements come from ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RESAMPLING_H
#define INGOT_PASSES_SUPPORT_RESAMPLING_H

#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ingot::support {

/// Scalar arithmetic of indices and f32, or f64 with `isWide`, written short.
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
  /// The number of two that is one, or the smaller or larger of both.
  Value min(Value x, Value y) {
    return mlir::arith::MinNumFOp::create(b, loc, x, y);
  }
  Value max(Value x, Value y) {
    return mlir::arith::MaxNumFOp::create(b, loc, x, y);
  }
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
  /// `body` makes the state of the next step of what it is at one.
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
  /// condition ? x : y, comparing two indices.
  Value choose(mlir::arith::CmpIPredicate predicate, Value p, Value q, Value x,
               Value y) {
    Value condition = mlir::arith::CmpIOp::create(b, loc, predicate, p, q);
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
};

/// How positions of a result are mapped to the operand.
struct Sampling {
  nn::ResizeMode mode = nn::ResizeMode::nearest;
  nn::Coordinates coordinates = nn::Coordinates::asymmetric;
  nn::NearestMode nearest = nn::NearestMode::floor;
  float cubicCoeff = -0.75f;
  bool excludeOutside = false;
};

/// One element that a result element is made of, along one dimension; its
/// weight is null where there is one tap only.
struct Tap {
  Value position;
  Value weight;
};

/// A dimension that is resampled: a scale of f32, or where positions are wanted
/// in f64 of that, and two indices.
struct ResampledAxis {
  Value scale;
  Value size, resultSize;
  /// Where the part of the operand starts and ends that the result shows, as
  /// shares of the dimension (f32); null stands for all of it.
  Value start = {}, end = {};
  /// Only the run knows the numbers above: positions may be anywhere.
  bool isComputed = false;
};

/// How nn.resize maps positions, dimension `dim` of it, and whether it copies
/// that dimension.
Sampling samplingOf(nn::ResizeOp op);
ResampledAxis axisOf(Scalars s, nn::ResizeOp op, int64_t dim,
                     OpFoldResult size, OpFoldResult resultSize);
bool isCopiedDim(nn::ResizeOp op, int64_t dim);

/// Returns the operand position that result position `at` stands for, of the
/// type of the scale. A computed one is held near the operand, so that it has
/// an integer.
Value positionOf(Scalars s, const Sampling &sampling, const ResampledAxis &axis,
                 Value at);
/// The four cubic convolution weights at distance t past the second tap.
SmallVector<Value> cubicWeights(Scalars s, Value t, double a);

/// Elements of the operand that one of the result is made of, along one
/// dimension.
int64_t numTaps(nn::ResizeMode mode);

/// What position `at` of the result is made of; positions are in bounds.
SmallVector<Tap> tapsOf(Scalars s, const Sampling &sampling,
                        const ResampledAxis &axis, Value at);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_RESAMPLING_H
