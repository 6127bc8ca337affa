//===- Regression.cpp - scores of measured values -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Values.h"
#include "compiler/study/metric/Metric.h"
#include "compiler/study/runs/Difference.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

namespace {

/// The sums of a column.
enum Place {
  squaredErrors,
  targets,
  squaredTargets,
  count,
  absoluteErrors,
  results,
  squaredResults,
  products,
  kPerColumn
};

/// The score of each column of the output is the coefficient of determination.
/// The worst column counts.
class Regression : public VectorMetric {
public:
  std::string name() const override { return "regression"; }

  std::string checkLabels(const Labels &labels, const Array &) const override {
    return llvm::all_of(labels.values,
                        [](double value) { return std::isfinite(value); })
               ? ""
               : "has a value that is not finite";
  }

  Sums compare(const Target &target, const Array &output) const override {
    const std::vector<double> found = tools::toDoubles(output);
    return found.size() == target.values.size() ? add(target, found) : Sums();
  }

  Sums perfect(const Target &target) const override {
    return add(target, target.values);
  }

  double score(const Sums &sums) const override {
    return 100 * worst(sums, [](const double *column) {
             const double spread = spreadOf(column, targets);
             // Values that do not vary are judged by their size.
             const double scale = areVaried(spread, column[squaredTargets])
                                      ? spread
                                      : column[squaredTargets];
             const double error = column[squaredErrors];
             return error == 0 ? 1 : 1 - error / scale;
           });
  }

  std::vector<Detail> details(const Sums &sums) const override {
    const double mean = -worst(sums, [](const double *column) {
      return -column[absoluteErrors] / std::max(column[count], 1.0);
    });
    const double relative = -worst(sums, [](const double *column) {
      const double error = column[squaredErrors];
      return error == 0 ? 0 : -std::sqrt(error / column[squaredTargets]);
    });
    const double correlation = worst(sums, [](const double *column) {
      const double product =
          column[products] -
          column[targets] * column[results] / std::max(column[count], 1.0);
      const double spreads =
          spreadOf(column, targets) * spreadOf(column, results);
      return column[squaredErrors] == 0 ? 1 : product / std::sqrt(spreads);
    });
    return {{"mean_absolute_error", mean},
            {"relative_error", relative},
            {"correlation", correlation}};
  }

private:
  /// The most columns that are judged by themselves. More are values of one
  /// kind, as in an image.
  static constexpr int64_t kMostColumns = 64;

  size_t widthOf(const Array &output) const override {
    const int64_t last = output.dims.size() > 1 ? lastDimOf(output) : 1;
    return last <= kMostColumns ? size_t(std::max<int64_t>(last, 1)) : 1;
  }

  /// Returns the sum of squared deviations from the mean, of targets or of
  /// results. `place` is the place of their sum. The sum of squares follows it.
  static double spreadOf(const double *column, Place place) {
    return column[place + 1] -
           column[place] * column[place] / std::max(column[count], 1.0);
  }

  /// Returns the least value of `rate` for a column. NaN counts as the worst.
  static double worst(const Sums &sums,
                      llvm::function_ref<double(const double *)> rate) {
    double least = INFINITY;
    for (size_t at = 0; at + kPerColumn <= sums.size(); at += kPerColumn) {
      const double one = rate(&sums[at]);
      least = std::isnan(one) ? -INFINITY : std::min(least, one);
    }
    return least;
  }

  static Sums add(const Target &target, const std::vector<double> &found) {
    Sums sums(kPerColumn * target.width);
    for (size_t i = 0; i < found.size(); ++i) {
      double *column = &sums[kPerColumn * (i % target.width)];
      const double wanted = target.values[i], error = found[i] - wanted;
      column[squaredErrors] += error * error;
      column[targets] += wanted;
      column[squaredTargets] += wanted * wanted;
      column[count] += 1;
      column[absoluteErrors] += std::abs(error);
      column[results] += found[i];
      column[squaredResults] += found[i] * found[i];
      column[products] += found[i] * wanted;
    }
    return sums;
  }
};

} // namespace

std::unique_ptr<Metric> ingot::study::makeRegression() {
  return std::make_unique<Regression>();
}
