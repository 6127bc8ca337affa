//===- Number.h - formulas of floats ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floats with the operators of C++, so that code that builds ops reads like the
// formula that it builds.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MATH_NUMBER_H
#define INGOT_PASSES_MATH_NUMBER_H

#include "passes/support/FloatBuilder.h"

#include <limits>

namespace ingot::elementary {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A condition on each element.
struct Test {
  const FloatBuilder *f;
  mlir::Value value;

  template <typename Op>
  Test combine(Test other) const {
    return {f, Op::create(f->b, f->loc, value, other.value)};
  }
  Test operator&&(Test other) const {
    return combine<mlir::arith::AndIOp>(other);
  }
  Test operator||(Test other) const {
    return combine<mlir::arith::OrIOp>(other);
  }
  /// Returns true if both tests have the same result.
  Test operator==(Test other) const {
    return {f, mlir::arith::CmpIOp::create(f->b, f->loc,
                                           mlir::arith::CmpIPredicate::eq,
                                           value, other.value)};
  }
};

/// Integers as wide as the floats. Shifts to the right fill with zeros.
struct Bits {
  const FloatBuilder *f;
  mlir::Value value;

  template <typename Op>
  Bits combine(Bits other) const {
    return {f, Op::create(f->b, f->loc, value, other.value)};
  }
  Bits like(uint64_t number) const {
    return {f, f->integer(int64_t(number), f->width())};
  }
  Bits operator+(Bits y) const { return combine<mlir::arith::AddIOp>(y); }
  Bits operator-(Bits y) const { return combine<mlir::arith::SubIOp>(y); }
  Bits operator*(Bits y) const { return combine<mlir::arith::MulIOp>(y); }
  Bits operator&(Bits y) const { return combine<mlir::arith::AndIOp>(y); }
  Bits operator|(Bits y) const { return combine<mlir::arith::OrIOp>(y); }
  Bits operator^(Bits y) const { return combine<mlir::arith::XOrIOp>(y); }
  Bits operator<<(Bits y) const { return combine<mlir::arith::ShLIOp>(y); }
  Bits operator>>(Bits y) const { return combine<mlir::arith::ShRUIOp>(y); }
  Bits operator+(uint64_t y) const { return *this + like(y); }
  Bits operator-(uint64_t y) const { return *this - like(y); }
  Bits operator&(uint64_t y) const { return *this & like(y); }
  Bits operator<<(uint64_t y) const { return *this << like(y); }
  Bits operator>>(uint64_t y) const { return *this >> like(y); }
  /// Returns the shift that fills with copies of the sign bit.
  Bits shiftSigned(uint64_t y) const {
    return combine<mlir::arith::ShRSIOp>(like(y));
  }
  /// Returns the upper half of the product.
  Bits timesHigh(Bits y) const {
    auto product =
        mlir::arith::MulUIExtendedOp::create(f->b, f->loc, value, y.value);
    return {f, product.getHigh()};
  }
  Test compare(mlir::arith::CmpIPredicate predicate, Bits y) const {
    return {f, mlir::arith::CmpIOp::create(f->b, f->loc, predicate, value,
                                           y.value)};
  }
  /// Compares unsigned integers.
  Test operator<(Bits y) const {
    return compare(mlir::arith::CmpIPredicate::ult, y);
  }
  /// Returns true if a bit of the mask is set.
  Test has(uint64_t mask) const {
    return (*this & mask).compare(mlir::arith::CmpIPredicate::ne, like(0));
  }
};

/// A float or a vector of floats.
struct Number {
  const FloatBuilder *f;
  mlir::Value value;

  bool isDouble() const { return f->width() == 64; }
  Number like(double number) const { return {f, f->number(number)}; }
  Bits bits() const { return {f, f->bitsOf(value)}; }
  Test compare(mlir::arith::CmpFPredicate predicate, Number y) const {
    return {f, mlir::arith::CmpFOp::create(f->b, f->loc, predicate, value,
                                           y.value)};
  }
};

inline Number operator+(Number x, Number y) {
  return {x.f, x.f->add(x.value, y.value)};
}
inline Number operator-(Number x, Number y) {
  return {x.f, x.f->sub(x.value, y.value)};
}
inline Number operator*(Number x, Number y) {
  return {x.f, x.f->mul(x.value, y.value)};
}
inline Number operator/(Number x, Number y) {
  return {x.f, x.f->div(x.value, y.value)};
}
inline Number operator+(Number x, double y) { return x + x.like(y); }
inline Number operator-(Number x, double y) { return x - x.like(y); }
inline Number operator*(Number x, double y) { return x * x.like(y); }
inline Number operator+(double x, Number y) { return y.like(x) + y; }
inline Number operator-(double x, Number y) { return y.like(x) - y; }
inline Number operator*(double x, Number y) { return y.like(x) * y; }
inline Number operator/(double x, Number y) { return y.like(x) / y; }
inline Number operator-(Number x) {
  return {x.f, mlir::arith::NegFOp::create(x.f->b, x.f->loc, x.value)};
}

// Comparisons with NaN are false, except for !=.
inline Test operator<(Number x, Number y) {
  return x.compare(mlir::arith::CmpFPredicate::OLT, y);
}
inline Test operator==(Number x, Number y) {
  return x.compare(mlir::arith::CmpFPredicate::OEQ, y);
}
inline Test operator!=(Number x, Number y) {
  return x.compare(mlir::arith::CmpFPredicate::UNE, y);
}
inline Test operator<(Number x, double y) { return x < x.like(y); }
inline Test operator>(Number x, double y) { return x.like(y) < x; }
inline Test operator==(Number x, double y) { return x == x.like(y); }
inline Test operator!=(Number x, double y) { return x != x.like(y); }

inline Number choose(Test test, Number x, Number y) {
  return {x.f, mlir::arith::SelectOp::create(x.f->b, x.f->loc, test.value,
                                             x.value, y.value)};
}
inline Number choose(Test test, Number x, double y) {
  return choose(test, x, x.like(y));
}
inline Number choose(Test test, double x, Number y) {
  return choose(test, y.like(x), y);
}
inline Bits choose(Test test, Bits x, Bits y) {
  return {x.f, mlir::arith::SelectOp::create(x.f->b, x.f->loc, test.value,
                                             x.value, y.value)};
}

/// Returns x y + z, rounded once.
inline Number fma(Number x, Number y, Number z) {
  return {x.f, mlir::math::FmaOp::create(x.f->b, x.f->loc, x.value, y.value,
                                         z.value)};
}
inline Number fma(Number x, double y, Number z) { return fma(x, x.like(y), z); }
inline Number absolute(Number x) {
  return {x.f, mlir::math::AbsFOp::create(x.f->b, x.f->loc, x.value)};
}
inline Number squareRoot(Number x) {
  return {x.f, mlir::math::SqrtOp::create(x.f->b, x.f->loc, x.value)};
}
inline Number truncated(Number x) {
  return {x.f, mlir::math::TruncOp::create(x.f->b, x.f->loc, x.value)};
}
inline Number nearest(Number x) {
  return {x.f, mlir::math::RoundEvenOp::create(x.f->b, x.f->loc, x.value)};
}
inline Number withSignOf(Number x, Number sign) {
  return {x.f, mlir::math::CopySignOp::create(x.f->b, x.f->loc, x.value,
                                              sign.value)};
}
inline Number ofBits(Bits bits) { return {bits.f, bits.f->ofBits(bits.value)}; }
/// Converts a signed integer.
inline Number toNumber(Bits bits) {
  return {bits.f, mlir::arith::SIToFPOp::create(bits.f->b, bits.f->loc,
                                                bits.f->type, bits.value)};
}

} // namespace ingot::elementary

#endif // INGOT_PASSES_MATH_NUMBER_H
