//===- Evaluation.cpp - how often a model is right ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Evaluation.h"

#include "client/Values.h"
#include "client/inputs/Zip.h"
#include "compiler/study/runs/OutputDifference.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

/// The most bytes of labels: more than any evaluation has.
static constexpr uint64_t kMostLabelBytes = uint64_t(1) << 30;

std::string Evaluation::readLabels() {
  const std::string_view end = ".npz";
  if (path.size() < end.size() ||
      path.compare(path.size() - end.size(), end.size(), end) != 0)
    return "";
  tools::ZipFile file;
  if (std::string problem = file.open(path); !problem.empty())
    return problem;
  auto member = std::find_if(file.members().begin(), file.members().end(),
                             [](const tools::ZipMember &candidate) {
                               return candidate.name == "labels.npy" ||
                                      candidate.name == "labels";
                             });
  if (member == file.members().end())
    return "";
  if (member->size > kMostLabelBytes)
    return "array 'labels' is larger than 1 GiB";
  tools::ZipReader reader(file, *member);
  std::vector<unsigned char> bytes(member->size);
  std::string problem = reader.open();
  if (problem.empty())
    problem = reader.read(bytes.data(), bytes.size());
  Array array;
  if (problem.empty())
    problem = tools::parseNpy(bytes.data(), bytes.size(), array);
  if (!problem.empty())
    return "array 'labels': " + problem;
  for (double label : tools::toDoubles(array)) {
    // Larger labels are not class numbers, and may not fit into int64.
    constexpr double kMostClasses = double(uint64_t(1) << 53);
    if (!(label >= 0 && label < kMostClasses) || label != std::floor(label))
      return "array 'labels' has " + std::to_string(label) +
             ", but labels are numbers of classes";
    labels.push_back(int64_t(label));
  }
  return labels.empty() ? "array 'labels' is empty" : "";
}

llvm::Error Evaluation::open() {
  Samples samples;
  if (llvm::Error error = openSamples({{path}, preprocess}, samples))
    return error;
  std::string problem = readLabels();
  return errorIf(
      problem.empty() ? "" : "'" + formatLine(path, 200) + "': " + problem);
}

static std::string addClasses(const Array &output,
                              std::vector<int64_t> &classes) {
  const std::vector<int64_t> found = largestPlaces(output);
  classes.insert(classes.end(), found.begin(), found.end());
  if (!found.empty())
    return "";
  return "the first output has " +
         formatShape(output.dims.data(), output.dims.size()) +
         " numbers, but accuracy is measured by the largest of several numbers "
         "in the last dimension";
}

llvm::Error Evaluation::classify(const Run &run, Samples &samples,
                                 const Progress &progress,
                                 const Visit &visit) const {
  if (llvm::Error error = openSamples({{path}, preprocess}, samples))
    return error;
  samples.setInputs(inputs);
  std::vector<Array> out;
  return forEachSample(samples, progress,
                       [&](std::vector<Array> &in) -> llvm::Expected<bool> {
                         std::vector<int64_t> classes;
                         llvm::Error error = run(in, out);
                         if (!error)
                           error = errorIf(addClasses(out.front(), classes));
                         if (error)
                           return atSample(samples.where(), std::move(error));
                         return visit(classes);
                       });
}

double Evaluation::percentOf(uint64_t rows) const {
  return 100 * double(rows) / double(std::max<size_t>(wanted.size(), 1));
}

std::optional<uint64_t>
Evaluation::countWrong(uint64_t sample,
                       const std::vector<int64_t> &classes) const {
  if (sample >= firstRows.size())
    return std::nullopt;
  const uint64_t first = firstRows[sample];
  const uint64_t end =
      sample + 1 < firstRows.size() ? firstRows[sample + 1] : wanted.size();
  if (classes.size() != end - first)
    return std::nullopt;
  uint64_t wrong = 0;
  for (size_t i = 0; i < classes.size(); ++i)
    wrong += classes[i] != wanted[first + i];
  return wrong;
}

std::string Evaluation::hasChanged() const {
  return "'" + formatLine(path, 200) + "': it has changed";
}

llvm::Error Evaluation::runReference(const Run &run, const Progress &progress) {
  std::vector<int64_t> classes;
  int64_t numClasses = 0;
  auto counted = [&](const std::vector<Array> &in, std::vector<Array> &out) {
    llvm::Error error = run(in, out);
    if (!error && !out.front().dims.empty())
      numClasses = std::max(numClasses, int64_t(out.front().dims.back()));
    return error;
  };
  Samples samples;
  if (llvm::Error error = classify(counted, samples, progress,
                                   [&](const std::vector<int64_t> &found) {
                                     firstRows.push_back(classes.size());
                                     llvm::append_range(classes, found);
                                     return true;
                                   }))
    return error;
  const std::string where = "'" + formatLine(path, 200) + "': ";
  if (hasLabels() && labels.size() != classes.size())
    return makeError(where + "there are " + std::to_string(labels.size()) +
                     " labels, but " + std::to_string(classes.size()) +
                     " rows of the first output");
  auto largest = std::max_element(labels.begin(), labels.end());
  if (hasLabels() && *largest >= numClasses)
    return makeError(where + "array 'labels' has " + std::to_string(*largest) +
                     ", but the first output has " +
                     std::to_string(numClasses) + " classes, from 0 on");
  wanted = hasLabels() ? labels : classes;
  uint64_t right = 0;
  for (size_t i = 0; i < wanted.size(); ++i)
    right += classes[i] == wanted[i];
  reference = percentOf(right);
  return llvm::Error::success();
}

llvm::Expected<double> Evaluation::rate(const Run &run,
                                        const Progress &progress) {
  uint64_t sample = 0, wrong = 0;
  bool isSame = true;
  Samples samples;
  if (llvm::Error error = classify(
          run, samples, progress, [&](const std::vector<int64_t> &classes) {
            const std::optional<uint64_t> count = countWrong(sample, classes);
            isSame = count.has_value();
            if (count.value_or(0))
              doubtful.insert(sample);
            wrong += count.value_or(0);
            ++sample;
            return isSame;
          }))
    return std::move(error);
  if (!isSame || sample != firstRows.size())
    return makeError(hasChanged());
  return percentOf(wanted.size() - wrong);
}

llvm::Expected<bool> Evaluation::reaches(const Run &run, double least,
                                         const Progress &progress) const {
  std::vector<PickedSample> picked;
  for (uint64_t sample : doubtful)
    picked.push_back({sample, 1});
  Samples samples;
  samples.choose(picked);
  size_t numSeen = 0;
  uint64_t wrong = 0;
  bool isSame = true, isReached = true;
  if (llvm::Error error = classify(
          run, samples, progress, [&](const std::vector<int64_t> &classes) {
            const std::optional<uint64_t> count =
                countWrong(picked[numSeen++].number, classes);
            isSame = count.has_value();
            wrong += count.value_or(0);
            isReached = percentOf(wanted.size() - wrong) >= least;
            return isSame && isReached;
          }))
    return std::move(error);
  if (!isSame || (isReached && numSeen != picked.size()))
    return makeError(hasChanged());
  return isReached;
}
