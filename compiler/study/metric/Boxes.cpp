//===- Boxes.cpp - the layouts of detected boxes --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Boxes.h"

#include "client/Text.h"
#include "client/Values.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <string.h>

using namespace ingot;
using namespace ingot::study;
using ingot::tools::Array;

/// The numbers of a corner pair.
static constexpr int64_t kCorners = 4;
/// The numbers of a row with the image, the corners, the class and the score.
static constexpr int64_t kRowWithImage = 7;

/// Returns true for N×size and for images×N×size.
static bool hasRows(const Array &array, int64_t size) {
  return (array.dims.size() == 2 || array.dims.size() == 3) &&
         array.dims.back() == size;
}

static bool hasRowsWithImage(const Array &array) {
  return array.dims.size() == 2 && array.dims.back() == kRowWithImage;
}

bool ingot::study::isBoxes(const Array &array) {
  return hasRows(array, kBoxSize);
}

static bool isInteger(const Array &array) {
  return llvm::is_contained({INGOT_INT64, INGOT_INT32, INGOT_INT16, INGOT_INT8,
                             INGOT_UINT64, INGOT_UINT32, INGOT_UINT16,
                             INGOT_UINT8},
                            array.dtype);
}

/// Returns true if the array has one number for each box.
static bool hasOneForEach(const Array &array, const Array &boxes) {
  llvm::ArrayRef<int64_t> dims(array.dims);
  llvm::ArrayRef<int64_t> wanted = llvm::ArrayRef(boxes.dims).drop_back();
  return dims == wanted || (dims.size() == wanted.size() + 1 &&
                            dims.back() == 1 && dims.drop_back() == wanted);
}

static bool isNamed(llvm::StringRef name, llvm::ArrayRef<const char *> words) {
  return llvm::any_of(
      words, [&](const char *word) { return name.contains_insensitive(word); });
}

std::optional<BoxOutputs>
ingot::study::findBoxes(llvm::ArrayRef<Array> outputs,
                        llvm::ArrayRef<std::string> names,
                        llvm::ArrayRef<size_t> candidates) {
  for (size_t i : candidates)
    if (isBoxes(outputs[i]) || hasRowsWithImage(outputs[i]))
      return BoxOutputs{i, {}, {}};
  for (size_t boxes : candidates) {
    if (!hasRows(outputs[boxes], kCorners))
      continue;
    BoxOutputs found{boxes, {}, {}};
    std::vector<size_t> others;
    for (size_t i : candidates)
      if (i != boxes && hasOneForEach(outputs[i], outputs[boxes]))
        others.push_back(i);
    // Types and names tell classes from scores.
    for (size_t i : others)
      if (!found.classes &&
          (isInteger(outputs[i]) || isNamed(names[i], {"class", "label"})))
        found.classes = i;
    for (size_t i : others)
      if (!found.scores && found.classes != i && !isInteger(outputs[i]))
        found.scores = i;
    if (found.scores && found.classes)
      return found;
  }
  return std::nullopt;
}

/// Makes an array of boxes from `rows` of kBoxSize numbers. The first
/// dimensions are those of `dims`.
static Array toBoxes(llvm::ArrayRef<int64_t> dims,
                     const std::vector<float> &rows) {
  Array array{INGOT_FLOAT, dims.vec(), {}, {}};
  array.dims.push_back(kBoxSize);
  array.data.resize(rows.size() * sizeof(float));
  if (!rows.empty())
    memcpy(array.data.data(), rows.data(), array.data.size());
  return array;
}

/// Groups rows by image: images×N×6, filled up with boxes without a score.
static Array packRowsWithImage(const Array &array) {
  const std::vector<double> values = tools::toDoubles(array);
  std::vector<std::vector<float>> images(1);
  // Rows of more images than this have another meaning.
  constexpr double kMostImages = 1 << 16;
  for (size_t at = 0; at + kRowWithImage <= values.size();
       at += kRowWithImage) {
    const double *row = &values[at];
    if (!(row[0] >= 0 && row[0] < kMostImages))
      continue;
    if (size_t(row[0]) >= images.size())
      images.resize(size_t(row[0]) + 1);
    for (int i : {1, 2, 3, 4, 6, 5})
      images[size_t(row[0])].push_back(float(row[i]));
  }
  size_t longest = 0;
  for (const std::vector<float> &image : images)
    longest = std::max(longest, image.size());
  std::vector<float> rows;
  for (std::vector<float> &image : images) {
    image.resize(longest);
    llvm::append_range(rows, image);
  }
  return toBoxes({int64_t(images.size()), int64_t(longest) / kBoxSize}, rows);
}

llvm::Expected<Array> ingot::study::packBoxes(llvm::ArrayRef<Array> outputs,
                                              const BoxOutputs &found) {
  const Array &boxes = outputs[found.boxes];
  if (!found.scores)
    return hasRowsWithImage(boxes) ? packRowsWithImage(boxes) : boxes;
  for (size_t other : {*found.scores, *found.classes})
    if (!hasOneForEach(outputs[other], boxes))
      return makeError(
          "boxes are " +
          tools::formatShape(boxes.dims.data(), boxes.dims.size()) +
          ", but their scores or classes are " +
          tools::formatShape(outputs[other].dims.data(),
                             outputs[other].dims.size()));
  const std::vector<double> corners = tools::toDoubles(boxes),
                            scores = tools::toDoubles(outputs[*found.scores]),
                            classes = tools::toDoubles(outputs[*found.classes]);
  std::vector<float> rows;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < size_t(kCorners); ++j)
      rows.push_back(float(corners[i * kCorners + j]));
    rows.push_back(float(scores[i]));
    rows.push_back(float(classes[i]));
  }
  return toBoxes(llvm::ArrayRef(boxes.dims).drop_back(), rows);
}
