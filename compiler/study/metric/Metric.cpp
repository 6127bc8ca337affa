//===- Metric.cpp - how right an output is --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Metric.h"

#include "client/Values.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

Metric::~Metric() = default;

void Metric::add(Sums &all, const Sums &one) const {
  all.resize(std::max(all.size(), one.size()));
  for (size_t i = 0; i < one.size(); ++i)
    all[i] += one[i];
}

uint64_t VectorMetric::numLabels(const Labels &, const Array &output) const {
  return tools::elementCount(output);
}

Target VectorMetric::targetOf(const Array &output) const {
  return {tools::toDoubles(output), widthOf(output)};
}

/// Returns a number without trailing zeros.
static std::string shown(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%g", value);
  return text;
}

//===----------------------------------------------------------------------===//
// Argmax
//===----------------------------------------------------------------------===//

namespace {

class Argmax : public Metric {
public:
  explicit Argmax(int64_t axis) : axis(axis) {}

  std::string name() const override {
    return axis == -1 ? "argmax" : "argmax:" + std::to_string(axis);
  }

  std::string nameFor(const Array &output) const override {
    return "argmax:" + std::to_string(place(output));
  }

  std::string checkOutput(const Array &output) const override {
    const auto rank = int64_t(output.dims.size());
    if (axis < -rank || axis >= rank)
      return "has no dimension " + std::to_string(axis);
    return classesOf(output) > 1 ? "" : "has one number for each result";
  }

  std::string checkLabels(const Labels &labels,
                          const Array &output) const override {
    const double classes = double(classesOf(output));
    for (double label : labels.values) {
      if (!(label >= 0) || label != std::floor(label) ||
          label >= double(uint64_t(1) << 53))
        return "has " + shown(label) + ", but labels are numbers of classes";
      if (label >= classes)
        return "has " + shown(label) + ", but the output has " +
               shown(classes) + " classes, from 0 on";
    }
    return "";
  }

  uint64_t numLabels(const Labels &, const Array &output) const override {
    return elementCount(output) /
           uint64_t(std::max<int64_t>(classesOf(output), 1));
  }

  Target targetOf(const Array &output) const override {
    const std::vector<double> values = tools::toDoubles(output);
    const auto classes = size_t(classesOf(output));
    size_t inner = 1;
    for (size_t d = place(output) + 1; d < output.dims.size(); ++d)
      inner *= size_t(output.dims[d]);
    Target target;
    for (size_t outer = 0; outer + classes * inner <= values.size();
         outer += classes * inner)
      for (size_t i = 0; i < inner; ++i) {
        size_t largest = 0;
        for (size_t c = 1; c < classes; ++c)
          if (values[outer + c * inner + i] >
              values[outer + largest * inner + i])
            largest = c;
        target.values.push_back(double(largest));
      }
    return target;
  }

  Sums compare(const Target &target, const Array &output) const override {
    const Target found = targetOf(output);
    if (found.values.size() != target.values.size())
      return {};
    double right = 0;
    for (auto [a, b] : llvm::zip_equal(target.values, found.values))
      right += a == b;
    return {right, double(target.values.size())};
  }

  Sums perfect(const Target &target) const override {
    return {double(target.values.size()), double(target.values.size())};
  }

  double score(const Sums &sums) const override {
    return 100 * sums[0] / std::max(sums[1], 1.0);
  }

private:
  static uint64_t elementCount(const Array &output) {
    return tools::elementCount(output);
  }
  size_t place(const Array &output) const {
    return size_t(axis < 0 ? axis + int64_t(output.dims.size()) : axis);
  }
  int64_t classesOf(const Array &output) const {
    return output.dims[place(output)];
  }

  int64_t axis;
};

//===----------------------------------------------------------------------===//
// Several labels
//===----------------------------------------------------------------------===//

class MultiLabel : public Metric {
public:
  explicit MultiLabel(double threshold) : threshold(threshold) {}

  std::string name() const override {
    return threshold == 0.5 ? "multilabel" : "multilabel:" + shown(threshold);
  }

  std::string checkLabels(const Labels &labels, const Array &) const override {
    for (double label : labels.values)
      if (label != 0 && label != 1)
        return "has " + shown(label) + ", but labels are 0 or 1";
    return "";
  }

  uint64_t numLabels(const Labels &, const Array &output) const override {
    return tools::elementCount(output);
  }

  Target targetOf(const Array &output) const override {
    Target target = {tools::toDoubles(output)};
    for (double &value : target.values)
      value = value > threshold;
    return target;
  }

  Sums compare(const Target &target, const Array &output) const override {
    const Target found = targetOf(output);
    if (found.values.size() != target.values.size())
      return {};
    Sums sums(2);
    for (auto [a, b] : llvm::zip_equal(target.values, found.values)) {
      sums[0] += a && b;
      sums[1] += a + b;
    }
    return sums;
  }

  Sums perfect(const Target &target) const override {
    double set = 0;
    for (double bit : target.values)
      set += bit;
    return {set, 2 * set};
  }

  bool isNothing(const Sums &sums) const override { return sums[1] == 0; }

  double score(const Sums &sums) const override {
    return isNothing(sums) ? 100 : 200 * sums[0] / sums[1];
  }

private:
  double threshold;
};

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// Returns the number of insertions, deletions and replacements that turn `a`
/// into `b` (Levenshtein).
double editDistance(llvm::ArrayRef<double> a, llvm::ArrayRef<double> b) {
  std::vector<double> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = double(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    double diagonal = row[0];
    row[0] = double(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const double replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

/// Outputs are N×T×C: a row of C scores for each of T steps. A target has the
/// labels of each of N sequences, each followed by kEnd.
class Sequence : public Metric {
public:
  explicit Sequence(int64_t blank) : blank(double(blank)) {}

  std::string name() const override {
    return blank == 0 ? "sequence" : "sequence:" + shown(blank);
  }

  std::string checkOutput(const Array &output) const override {
    if (output.dims.size() != 3 || lastDimOf(output) < 2)
      return "is not a tensor of sequences, steps and classes";
    return blank < double(lastDimOf(output)) ? ""
                                             : "has no class for the blank";
  }

  uint64_t numLabels(const Labels &labels, const Array &output) const override {
    return labels.rowSize() * uint64_t(output.dims.front());
  }

  Target targetOf(llvm::ArrayRef<double> given, const Labels &labels,
                  const Array &) const override {
    Target target;
    for (size_t i = 0; i < given.size(); ++i) {
      // Blanks and negative numbers fill up short sequences.
      if (given[i] >= 0 && given[i] != blank)
        target.values.push_back(given[i]);
      if ((i + 1) % labels.rowSize() == 0)
        target.values.push_back(kEnd);
    }
    return target;
  }

  Target targetOf(const Array &output) const override {
    const std::vector<double> classes = Argmax(-1).targetOf(output).values;
    const auto steps = size_t(std::max<int64_t>(output.dims[1], 1));
    Target target;
    double last = blank;
    for (size_t i = 0; i < classes.size(); ++i) {
      if (classes[i] != last && classes[i] != blank)
        target.values.push_back(classes[i]);
      last = classes[i];
      if ((i + 1) % steps == 0) {
        target.values.push_back(kEnd);
        last = blank;
      }
    }
    return target;
  }

  Sums compare(const Target &target, const Array &output) const override {
    const Target found = targetOf(output);
    if (numSequences(found) != numSequences(target))
      return {};
    Sums sums(2);
    llvm::ArrayRef<double> restOfTarget(target.values),
        restOfFound(found.values);
    while (!restOfTarget.empty()) {
      auto take = [](llvm::ArrayRef<double> &rest) {
        auto end = llvm::find(rest, kEnd) - rest.begin();
        llvm::ArrayRef<double> row = rest.take_front(size_t(end));
        rest = rest.drop_front(size_t(end) + 1);
        return row;
      };
      const llvm::ArrayRef<double> wanted = take(restOfTarget);
      sums[0] += editDistance(wanted, take(restOfFound));
      sums[1] += double(wanted.size());
    }
    return sums;
  }

  Sums perfect(const Target &target) const override {
    return {0, double(target.values.size()) - numSequences(target)};
  }

  bool isNothing(const Sums &sums) const override {
    return sums[0] == 0 && sums[1] == 0;
  }

  double score(const Sums &sums) const override {
    if (sums[0] == 0)
      return 100;
    return 100 * std::max(1 - sums[0] / std::max(sums[1], 1.0), 0.0);
  }

private:
  static constexpr double kEnd = -1;

  static double numSequences(const Target &target) {
    return double(llvm::count(target.values, kEnd));
  }

  double blank;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool ingot::study::isMetricKind(llvm::StringRef kind) {
  return llvm::is_contained({"argmax", "regression", "multilabel", "sequence",
                             "detection", "cosine", "retrieval"},
                            kind);
}

llvm::Expected<std::unique_ptr<Metric>>
ingot::study::findMetric(llvm::StringRef name) {
  auto [kind, value] = name.split(':');
  const bool hasValue = name.contains(':');
  int64_t integer = 0;
  double number = 0;
  if (kind == "argmax" && (!hasValue || !value.getAsInteger(10, integer)))
    return std::make_unique<Argmax>(hasValue ? integer : -1);
  if (kind == "multilabel" &&
      (!hasValue || (!value.getAsDouble(number) && std::isfinite(number))))
    return std::make_unique<MultiLabel>(hasValue ? number : 0.5);
  if (kind == "sequence" &&
      (!hasValue || (!value.getAsInteger(10, integer) && integer >= 0)))
    return std::make_unique<Sequence>(integer);
  if (kind == "detection" &&
      (!hasValue || (!value.getAsDouble(number) && number > 0 && number <= 1)))
    return makeDetection(hasValue ? number : 0.5);
  if (name == "regression")
    return makeRegression();
  if (name == "cosine")
    return makeCosine();
  if (name == "retrieval")
    return makeRetrieval();
  return makeUsageError(
      "--metric=" + name.str() +
      ": use argmax, argmax:AXIS, regression, multilabel, "
      "multilabel:THRESHOLD, sequence, sequence:BLANK, detection, "
      "detection:OVERLAP, cosine, retrieval, or a command with a space or a "
      "slash");
}
