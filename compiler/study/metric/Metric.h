//===- Metric.h - how right an output is ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the metrics that judge an output. Each has a score in percent, which
// is 100 if the output is right.
//
// - argmax:AXIS is the share of right classes.
// - regression is the share of the variance that the output explains (R²).
// - multilabel:THRESHOLD is F1 of all labels.
// - sequence:BLANK is 1 minus the edit distance per label, after greedy CTC.
// - detection:OVERLAP is the average precision of boxes.
// - cosine is the mean cosine of vectors along the last dimension.
// - retrieval is the share of vectors whose nearest other vector has the same
//   label.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_METRIC_H
#define INGOT_COMPILER_STUDY_METRIC_METRIC_H

#include "compiler/study/metric/Labels.h"
#include "compiler/study/runs/Client.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace ingot::study {

/// The right result for one sample: classes, values, bits or sequences.
struct Target {
  std::vector<double> values;
  /// The number of values that belong together: columns that are judged by
  /// themselves, or elements of a vector.
  size_t width = 1;
};

/// Sums over samples, from which a metric computes its score.
using Sums = std::vector<double>;

/// A number beside the score, for example a mean absolute error.
struct Detail {
  /// The name in JSON, for example "mean_absolute_error".
  std::string name;
  double value = 0;
  /// Stands behind the number in texts, for example "points".
  const char *unit = "";
};

/// Returns the size of the last dimension; 1 for a scalar.
inline int64_t lastDimOf(const Array &output) {
  return output.dims.empty() ? 1 : output.dims.back();
}

class Metric {
public:
  virtual ~Metric();

  /// Returns the metric in the syntax of --metric.
  virtual std::string name() const = 0;
  /// Returns the name with all defaults that follow from an output, for example
  /// the axis.
  virtual std::string nameFor(const Array &output) const { return name(); }
  /// Returns "", or why the metric cannot judge such an output.
  virtual std::string checkOutput(const Array &output) const { return ""; }
  /// Returns "", or why `labels` do not fit to such an output. Continues
  /// "array 'labels' ".
  virtual std::string checkLabels(const Labels &labels,
                                  const Array &output) const {
    return "";
  }
  /// Returns the number of values in `labels` for one sample.
  virtual uint64_t numLabels(const Labels &labels,
                             const Array &output) const = 0;
  /// Returns the result that `output` shows.
  virtual Target targetOf(const Array &output) const = 0;
  /// Returns the result that `given`, the labels of one sample, stand for.
  virtual Target targetOf(llvm::ArrayRef<double> given, const Labels &labels,
                          const Array &output) const {
    return {given.vec(), widthOf(output)};
  }
  /// Compares a sample's output with its target. Returns nothing if the output
  /// has another size than the target.
  virtual Sums compare(const Target &target, const Array &output) const = 0;
  /// Returns the sums of an output that is right.
  virtual Sums perfect(const Target &target) const = 0;
  /// Adds the sums of a sample to those of others.
  virtual void add(Sums &all, const Sums &one) const;
  /// Returns true if only the whole of all samples has a score, because they
  /// are compared with each other. `perfect` then returns nothing.
  virtual bool isOfAllSamples() const { return false; }
  /// Returns true if there is nothing to count, such as a box of a target. The
  /// score of such samples tells nothing about a model.
  virtual bool isNothing(const Sums &sums) const { return false; }
  /// Returns true if the results of the reference cannot replace labels.
  virtual bool needsLabels() const { return false; }
  /// Returns the score of added sums in percent, at most 100.
  virtual double score(const Sums &sums) const = 0;
  /// Returns other numbers that describe added sums.
  virtual std::vector<Detail> details(const Sums &sums) const { return {}; }

protected:
  /// Returns the width of the target of an output.
  virtual size_t widthOf(const Array &output) const { return 1; }
};

/// A metric whose targets have a value for each element of the output.
class VectorMetric : public Metric {
public:
  using Metric::targetOf;

  uint64_t numLabels(const Labels &labels, const Array &output) const override;
  Target targetOf(const Array &output) const override;
};

/// Metrics of other files, for findMetric.
std::unique_ptr<Metric> makeCosine();
std::unique_ptr<Metric> makeRetrieval();
std::unique_ptr<Metric> makeRegression();
/// `overlap` is the least intersection over union of boxes that match.
std::unique_ptr<Metric> makeDetection(double overlap);

/// Returns true if `kind` names a metric without its numbers.
bool isMetricKind(llvm::StringRef kind);

/// Returns the metric with this name, in the syntax of --metric without an
/// output.
llvm::Expected<std::unique_ptr<Metric>> findMetric(llvm::StringRef name);

/// Chooses the metric of an output by its values and by the labels. `labels` is
/// null if the results of fp32 count as right.
llvm::Expected<std::unique_ptr<Metric>> chooseMetric(const Array &output,
                                                     const Labels *labels);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_METRIC_H
