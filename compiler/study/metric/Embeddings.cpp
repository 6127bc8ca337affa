//===- Embeddings.cpp - scores of vectors ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Values.h"
#include "compiler/study/metric/Metric.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

/// Returns the cosine of the angle between two vectors; 1 for two zeros.
static double cosineOf(llvm::ArrayRef<double> x, llvm::ArrayRef<double> y) {
  double product = 0, a = 0, b = 0;
  for (auto [one, other] : llvm::zip_equal(x, y)) {
    product += one * other;
    a += one * one;
    b += other * other;
  }
  return a == 0 && b == 0 ? 1 : product / std::sqrt(a * b);
}

static std::string checkVectors(const Array &output) {
  return lastDimOf(output) > 1 ? "" : "has no vectors";
}

namespace {

class Cosine : public VectorMetric {
public:
  std::string name() const override { return "cosine"; }

  std::string checkOutput(const Array &output) const override {
    return checkVectors(output);
  }

  Sums compare(const Target &target, const Array &output) const override {
    const std::vector<double> found = tools::toDoubles(output);
    const std::vector<double> &wanted = target.values;
    if (found.size() != wanted.size())
      return {};
    Sums sums(2);
    for (size_t row = 0; row + target.width <= wanted.size();
         row += target.width) {
      const double cosine =
          cosineOf(llvm::ArrayRef(wanted).slice(row, target.width),
                   llvm::ArrayRef(found).slice(row, target.width));
      sums[0] += std::isnan(cosine) ? 0 : cosine;
      sums[1] += 1;
    }
    return sums;
  }

  Sums perfect(const Target &target) const override {
    const double rows = double(target.values.size() / target.width);
    return {rows, rows};
  }

  double score(const Sums &sums) const override {
    return 100 * sums[0] / std::max(sums[1], 1.0);
  }

private:
  size_t widthOf(const Array &output) const override {
    return size_t(std::max<int64_t>(lastDimOf(output), 1));
  }
};

/// Finds the nearest other vector of each vector, by the cosine. Sums are the
/// label, the size and the elements of each vector.
class Retrieval : public Metric {
public:
  std::string name() const override { return "retrieval"; }

  std::string checkOutput(const Array &output) const override {
    return checkVectors(output);
  }

  std::string checkLabels(const Labels &labels, const Array &) const override {
    return llvm::all_of(labels.values,
                        [](double value) { return std::isfinite(value); })
               ? ""
               : "has a value that is not finite";
  }

  bool isOfAllSamples() const override { return true; }
  bool needsLabels() const override { return true; }

  uint64_t numLabels(const Labels &, const Array &output) const override {
    return tools::elementCount(output) / sizeOf(output);
  }

  using Metric::targetOf;
  /// Returns a target with a value for each vector, since only labels tell
  /// which vectors belong together.
  Target targetOf(const Array &output) const override {
    return {std::vector<double>(tools::elementCount(output) / sizeOf(output))};
  }

  Sums compare(const Target &target, const Array &output) const override {
    const std::vector<double> found = tools::toDoubles(output);
    const size_t size = sizeOf(output);
    if (found.size() != target.values.size() * size)
      return {};
    Sums sums;
    for (auto [row, label] : llvm::enumerate(target.values)) {
      sums.push_back(label);
      sums.push_back(double(size));
      llvm::append_range(sums, llvm::ArrayRef(found).slice(row * size, size));
    }
    return sums;
  }

  Sums perfect(const Target &) const override { return {}; }

  void add(Sums &all, const Sums &one) const override {
    llvm::append_range(all, one);
  }

  double score(const Sums &sums) const override {
    const std::vector<Row> rows = rowsOf(sums);
    double right = 0;
    for (const Row &row : rows) {
      const Row *nearest = nullptr;
      double largest = -INFINITY;
      for (const Row &other : rows) {
        if (&other == &row || other.vector.size() != row.vector.size())
          continue;
        const double cosine = cosineOf(row.vector, other.vector);
        if (cosine > largest) {
          largest = cosine;
          nearest = &other;
        }
      }
      right += nearest && nearest->label == row.label;
    }
    return 100 * right / double(std::max<size_t>(rows.size(), 1));
  }

private:
  struct Row {
    double label;
    llvm::ArrayRef<double> vector;
  };

  static size_t sizeOf(const Array &output) {
    return size_t(std::max<int64_t>(lastDimOf(output), 1));
  }

  static std::vector<Row> rowsOf(llvm::ArrayRef<double> sums) {
    std::vector<Row> rows;
    while (!sums.empty()) {
      const auto size = size_t(sums[1]);
      rows.push_back({sums[0], sums.slice(2, size)});
      sums = sums.drop_front(2 + size);
    }
    return rows;
  }
};

} // namespace

std::unique_ptr<Metric> ingot::study::makeCosine() {
  return std::make_unique<Cosine>();
}

std::unique_ptr<Metric> ingot::study::makeRetrieval() {
  return std::make_unique<Retrieval>();
}
