//===- SizePolynomials.h - magnitudes for all sizes of inputs ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A magnitude is about a polynomial of the sizes of inputs, whose coefficients
// are not negative. Where each coefficient of one is at most that of another,
// so is the magnitude, whatever the sizes are.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_SIZEPOLYNOMIALS_H
#define INGOT_PASSES_MEMORY_SIZEPOLYNOMIALS_H

#include "mlir/IR/Value.h"

#include <map>
#include <optional>
#include <vector>

namespace ingot {

/// Bounds of the coefficients of products of sizes.
class SizePolynomial {
public:
  /// An input and its dimension, for each factor, in order.
  using Product = std::vector<std::pair<unsigned, int64_t>>;

  SizePolynomial(Product product, double factor) {
    terms[std::move(product)] = {factor, factor};
  }

  /// Returns whether the polynomial is at most `other` for all sizes, as far as
  /// the coefficients show.
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

  std::map<Product, Coefficient> terms;
};

/// Finds magnitudes as polynomials (Magnitudes.h); long ones are not known.
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
