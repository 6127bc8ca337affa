//===- SizePolynomials.cpp - magnitudes for all sizes of inputs -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/SizePolynomials.h"

#include "llvm/ADT/STLExtras.h"

using namespace ingot;

bool SizePolynomial::isAtMost(const SizePolynomial &other) const {
  return llvm::all_of(terms, [&](const auto &term) {
    auto found = other.terms.find(term.first);
    double least = found == other.terms.end() ? 0 : found->second.least;
    return term.second.most <= least;
  });
}

SizePolynomial SizePolynomial::plus(const SizePolynomial &other) const {
  SizePolynomial sum = *this;
  for (const auto &[product, coefficient] : other.terms) {
    Coefficient &all = sum.terms[product];
    all.least += coefficient.least;
    all.most += coefficient.most;
  }
  return sum;
}

SizePolynomial SizePolynomial::times(const SizePolynomial &other) const {
  SizePolynomial result({}, 0);
  for (const auto &[left, a] : terms)
    for (const auto &[right, b] : other.terms) {
      Monomial product(left.size() + right.size());
      std::merge(left.begin(), left.end(), right.begin(), right.end(),
                 product.begin());
      Coefficient &all = result.terms[product];
      all.least += a.least * b.least;
      all.most += a.most * b.most;
    }
  return result;
}

SizePolynomial SizePolynomial::largerOf(const SizePolynomial &other) const {
  if (isAtMost(other))
    return other;
  if (other.isAtMost(*this))
    return *this;
  SizePolynomial larger({}, 0);
  for (const SizePolynomial *side : {this, &other})
    for (const auto &[product, coefficient] : side->terms) {
      // The larger polynomial is never below its own lower bound. Use the
      // minimum of both lower bounds, because this bound holds for either
      // polynomial.
      auto least = [&key = product](const SizePolynomial &of) {
        auto found = of.terms.find(key);
        return found == of.terms.end() ? 0 : found->second.least;
      };
      Coefficient &all = larger.terms[product];
      all.least = std::min(least(*this), least(other));
      all.most = std::max(all.most, coefficient.most);
    }
  return larger;
}
