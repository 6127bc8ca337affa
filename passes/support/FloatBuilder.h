//===- FloatBuilder.h - arithmetic on floats --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_FLOATBUILDER_H
#define INGOT_PASSES_SUPPORT_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace ingot::elementary {

/// Arithmetic on f32, f64 or vectors of either.
struct FloatBuilder {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  bool hasFMA;

  mlir::Value number(double value) const {
    mlir::Type element = mlir::getElementTypeOrSelf(type);
    return mlir::arith::ConstantOp::create(
        b, loc, attribute(b.getFloatAttr(element, value)));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) const {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) const {
    return hasFMA ? mlir::math::FmaOp::create(b, loc, x, y, z).getResult()
                  : add(mul(x, y), z);
  }
  /// Returns `then` where the comparison holds, `otherwise` elsewhere.
  mlir::Value select(mlir::arith::CmpFPredicate predicate, mlir::Value x,
                     mlir::Value y, mlir::Value then,
                     mlir::Value otherwise) const {
    mlir::Value test = mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
    return mlir::arith::SelectOp::create(b, loc, test, then, otherwise);
  }
  /// Clamps x to [-limit, limit]. NaN stays NaN.
  mlir::Value clamp(mlir::Value x, float limit) const {
    mlir::Value low = number(-limit), high = number(limit);
    x = select(mlir::arith::CmpFPredicate::OGT, x, high, high, x);
    return select(mlir::arith::CmpFPredicate::OLT, x, low, low, x);
  }
  /// Evaluates the polynomial with these coefficients, highest power first.
  mlir::Value horner(mlir::Value x, llvm::ArrayRef<float> coefficients) const {
    mlir::Value sum = number(coefficients.front());
    for (float c : coefficients.drop_front())
      sum = fma(sum, x, number(c));
    return sum;
  }
  /// Returns the integer type of this width: a vector if the floats are a
  /// vector.
  mlir::Type integers(unsigned width) const {
    mlir::Type element = b.getIntegerType(width);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return vector.cloneWith(std::nullopt, element);
    return element;
  }
  mlir::Value integer(int64_t value, unsigned width = 32) const {
    mlir::IntegerAttr one = b.getIntegerAttr(b.getIntegerType(width), value);
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(integers(width)))
      return mlir::arith::ConstantOp::create(
          b, loc, mlir::DenseElementsAttr::get(vector, one));
    return mlir::arith::ConstantOp::create(b, loc, one);
  }
  mlir::Value bitsOf(mlir::Value x) const {
    return mlir::arith::BitcastOp::create(b, loc, integers(width()), x);
  }
  mlir::Value ofBits(mlir::Value bits) const {
    return mlir::arith::BitcastOp::create(b, loc, type, bits);
  }
  /// Returns x * 2^n for the integer n in the lowest bits of `biased`.
  mlir::Value scaleByPowerOf2(mlir::Value x, mlir::Value biased) const {
    // The exponent begins above the bits of the fraction.
    int64_t exponentAt = width() == 32 ? 23 : 52;
    mlir::Value n = mlir::arith::ShLIOp::create(b, loc, bitsOf(biased),
                                                integer(exponentAt, width()));
    return ofBits(mlir::arith::AddIOp::create(b, loc, bitsOf(x), n));
  }
  /// Returns the bits of a float.
  unsigned width() const {
    return mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  }

private:
  mlir::TypedAttr attribute(mlir::FloatAttr value) const {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return mlir::DenseElementsAttr::get(vector, value);
    return value;
  }
};

} // namespace ingot::elementary

#endif // INGOT_PASSES_SUPPORT_FLOATBUILDER_H
