//===- Detection.cpp - scores of boxes ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The score is the average precision over the boxes of all classes. A box is
// right if it overlaps with a box of the target that has its class and no other
// match. Scores of boxes are sorted into bins, so that samples can be added.
//
//===----------------------------------------------------------------------===//
#include "client/Values.h"
#include "compiler/study/metric/Boxes.h"
#include "compiler/study/metric/Metric.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

namespace {

/// The least score of a box of fp32 that counts as right.
constexpr double kSure = 0.5;

/// A box with its image and its place in a target.
struct Box {
  explicit Box(const double *row)
      : image(row[0]), left(row[1]), top(row[2]), right(row[3]), bottom(row[4]),
        score(row[5]), label(row[6]) {}

  double area() const {
    return std::max(right - left, 0.0) * std::max(bottom - top, 0.0);
  }

  double image, left, top, right, bottom, score, label;
};

/// Returns the intersection over union of two boxes.
double overlapOf(const Box &a, const Box &b) {
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left),
               height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double both = std::max(width, 0.0) * std::max(height, 0.0),
               all = a.area() + b.area() - both;
  return all > 0 ? both / all : 0;
}

/// A target has rows of the number of the image, the corners, the score and the
/// class of a box.
class Detection : public Metric {
public:
  explicit Detection(double overlap) : overlap(overlap) {}

  std::string name() const override {
    char text[40];
    snprintf(text, sizeof(text), "detection:%g", overlap);
    return text;
  }

  std::string checkOutput(const Array &output) const override {
    return isBoxes(output) ? "" : "has no boxes of six numbers";
  }

  std::string checkLabels(const Labels &labels, const Array &) const override {
    if (labels.dims.size() < 2 || labels.dims.back() != kLabelSize)
      return "has " + formatShape(labels.dims.data(), labels.dims.size()) +
             " numbers, but labels of boxes have the last dimension 5: "
             "x1, y1, x2, y2, class";
    for (size_t i = 0; i + kLabelSize <= labels.values.size();
         i += kLabelSize) {
      const double *box = &labels.values[i];
      if (box[4] >= 0 && !(box[0] <= box[2] && box[1] <= box[3]))
        return "has a box whose second corner is before its first: boxes are "
               "x1, y1, x2, y2, class";
    }
    return "";
  }

  uint64_t numLabels(const Labels &labels, const Array &output) const override {
    return labels.rowSize() * imagesOf(output);
  }

  Target targetOf(const Array &output) const override {
    Target target = boxesOf(output);
    Target sure{{}, kWidth};
    for (size_t at = 0; at < target.values.size(); at += kWidth)
      if (target.values[at + 5] >= kSure)
        sure.values.insert(sure.values.end(), &target.values[at],
                           &target.values[at] + kWidth);
    return sure;
  }

  Target targetOf(llvm::ArrayRef<double> given, const Labels &labels,
                  const Array &) const override {
    Target target{{}, kWidth};
    for (size_t at = 0; at + kLabelSize <= given.size(); at += kLabelSize) {
      // Rows with a negative class fill up images with few boxes.
      if (!(given[at + 4] >= 0))
        continue;
      target.values.push_back(double(at / labels.rowSize()));
      target.values.insert(target.values.end(), &given[at], &given[at] + 4);
      target.values.insert(target.values.end(), {1, given[at + 4]});
    }
    return target;
  }

  Sums compare(const Target &target, const Array &output) const override {
    const std::vector<Box> wanted = listOf(target);
    std::vector<Box> found = listOf(boxesOf(output));
    llvm::stable_sort(
        found, [](const Box &a, const Box &b) { return a.score > b.score; });
    Sums sums(kNumSums);
    sums[0] = double(wanted.size());
    std::vector<bool> isTaken(wanted.size());
    for (const Box &box : found) {
      size_t best = wanted.size();
      double most = overlap;
      for (size_t i = 0; i < wanted.size(); ++i)
        if (!isTaken[i] && wanted[i].image == box.image &&
            wanted[i].label == box.label && overlapOf(wanted[i], box) >= most) {
          most = overlapOf(wanted[i], box);
          best = i;
        }
      const bool isRight = best < wanted.size();
      if (isRight)
        isTaken[best] = true;
      sums[1 + (isRight ? 0 : kBins) + binOf(box.score)] += 1;
    }
    return sums;
  }

  Sums perfect(const Target &target) const override {
    Sums sums(kNumSums);
    sums[0] = sums[kBins] = double(target.values.size() / kWidth);
    return sums;
  }

  bool isNothing(const Sums &sums) const override { return sums[0] == 0; }

  double score(const Sums &sums) const override {
    // From the least score on, so that each recall gets the best precision that
    // it or a larger recall has.
    double right = 0, wrong = 0;
    for (size_t bin = 0; bin < kBins; ++bin) {
      right += sums[1 + bin];
      wrong += sums[1 + kBins + bin];
    }
    if (isNothing(sums))
      return 100;
    double best = 0, area = 0;
    for (size_t bin = 0; bin < kBins; ++bin) {
      if (right > 0)
        best = std::max(best, right / (right + wrong));
      area += best * sums[1 + bin];
      right -= sums[1 + bin];
      wrong -= sums[1 + kBins + bin];
    }
    return 100 * area / sums[0];
  }

  std::vector<Detail> details(const Sums &sums) const override {
    double right = 0, all = 0;
    for (size_t bin = binOf(kSure); bin < kBins; ++bin) {
      right += sums[1 + bin];
      all += sums[1 + bin] + sums[1 + kBins + bin];
    }
    return {{"recall", sums[0] == 0 ? 1 : right / sums[0]},
            {"precision", all == 0 ? 1 : right / all}};
  }

private:
  static constexpr size_t kWidth = 7;
  static constexpr int64_t kLabelSize = 5;
  /// The bins of scores from 0 to 1.
  static constexpr size_t kBins = 1000;
  /// The number of boxes in targets, then of right and of wrong boxes by score.
  static constexpr size_t kNumSums = 1 + 2 * kBins;

  static size_t binOf(double score) {
    return score > 0 ? std::min(size_t(std::min(score, 1.0) * kBins), kBins - 1)
                     : 0;
  }

  static uint64_t imagesOf(const Array &output) {
    return output.dims.size() == 3 ? uint64_t(output.dims[0]) : 1;
  }

  static std::vector<Box> listOf(const Target &target) {
    std::vector<Box> boxes;
    for (size_t at = 0; at < target.values.size(); at += kWidth)
      boxes.emplace_back(&target.values[at]);
    return boxes;
  }

  /// Returns all boxes of an output. Boxes without a score fill up the output.
  static Target boxesOf(const Array &output) {
    const std::vector<double> values = tools::toDoubles(output);
    const uint64_t ofImage = std::max<uint64_t>(
        values.size() / std::max<uint64_t>(imagesOf(output), 1), 1);
    Target target{{}, kWidth};
    for (size_t at = 0; at + kBoxSize <= values.size(); at += kBoxSize) {
      if (!(values[at + 4] > 0))
        continue;
      target.values.push_back(double(at / ofImage));
      target.values.insert(target.values.end(), &values[at],
                           &values[at] + kBoxSize);
    }
    return target;
  }

  double overlap;
};

} // namespace

std::unique_ptr<Metric> ingot::study::makeDetection(double overlap) {
  return std::make_unique<Detection>(overlap);
}
