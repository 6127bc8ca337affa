//===- SizePolynomials.h - magnitudes for all sizes of inputs ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Represents a magnitude as a polynomial of the sizes of inputs. Coefficients
// are not negative. If each coefficient of one polynomial is at most that of
// another, its value is also at most the other value, for all sizes.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_SIZEPOLYNOMIALS_H
#define INGOT_PASSES_MEMORY_SIZEPOLYNOMIALS_H

#include "mlir/IR/Value.h"

#include <map>
#include <optional>
#include <vector>

namespace ingot {

/// A polynomial with bounds for each coefficient.
class SizePolynomial {
public:
  /// Factors of a product of sizes: for each factor, in order, an input and its
  /// dimension.
  using Monomial = std::vector<std::pair<unsigned, int64_t>>;

  SizePolynomial(Monomial product, double factor) {
    terms[std::move(product)] = {factor, factor};
  }

  /// Returns true if the coefficients show that the polynomial is at most
  /// `other` for all sizes.
  bool isAtMost(const SizePolynomial &other) const;

  SizePolynomial plus(const SizePolynomial &other) const;
  SizePolynomial times(const SizePolynomial &other) const;
  SizePolynomial largerOf(const SizePolynomial &other) const;
  bool isLong() const { return terms.size() > kMaxTerms; }

private:
  struct Coefficient {
    double least = 0, most = 0;
  };
  static constexpr size_t kMaxTerms = 32;

  std::map<Monomial, Coefficient> terms;
};

/// A domain of magnitudes as polynomials (Magnitudes.h). Long polynomials count
/// as unknown.
class SizePolynomials {
public:
  using Number = std::optional<SizePolynomial>;

  Number constant(double value) { return SizePolynomial({}, value); }
  Number add(const Number &a, const Number &b) {
    return a && b ? checked(a->plus(*b)) : Number();
  }
  Number multiply(const Number &a, const Number &b) {
    return a && b ? checked(a->times(*b)) : Number();
  }
  Number larger(const Number &a, const Number &b) {
    return a && b ? checked(a->largerOf(*b)) : Number();
  }
  Number sizeOf(mlir::BlockArgument input, int64_t dim) {
    return SizePolynomial({{input.getArgNumber(), dim}}, 1);
  }
  std::optional<Number> other(mlir::Value) { return Number(); }

private:
  static Number checked(SizePolynomial polynomial) {
    return polynomial.isLong() ? Number() : Number(std::move(polynomial));
  }
};

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_SIZEPOLYNOMIALS_H
