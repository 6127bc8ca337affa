//===- Evaluation.cpp - how right a model is -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Evaluation.h"

#include "client/Values.h"
#include "client/inputs/Zip.h"

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
  Labels read = {tools::toDoubles(array), array.dims, true};
  for (double label : read.values)
    read.areIntegers &= label == std::floor(label) && std::isfinite(label);
  if (read.values.empty())
    return "array 'labels' is empty";
  labels = std::move(read);
  return "";
}

std::string Evaluation::name() const {
  return "'" + formatLine(path, 200) + "': ";
}

llvm::Error Evaluation::open() {
  if (!wantedMetric.empty()) {
    llvm::Expected<std::unique_ptr<Metric>> found = findMetric(wantedMetric);
    if (!found)
      return found.takeError();
    metric = std::move(*found);
  }
  Samples samples;
  if (llvm::Error error = openSamples({{path}, preprocess}, samples))
    return error;
  const std::string problem = readLabels();
  return errorIf(problem.empty() ? "" : name() + problem);
}

llvm::Error Evaluation::forEachOutput(const Run &run, Samples &samples,
                                      const Progress &progress,
                                      Visit visit) const {
  if (llvm::Error error = openSamples({{path}, preprocess}, samples))
    return error;
  samples.setInputs(inputs);
  std::vector<Array> out;
  return forEachSample(samples, progress,
                       [&](std::vector<Array> &in) -> llvm::Expected<bool> {
                         if (llvm::Error error = run(in, out))
                           return atSample(samples.where(), std::move(error));
                         return visit(out.front());
                       });
}

/// Chooses the metric by the first sample's output, unless the user has named
/// one. Checks that output and labels fit to it.
llvm::Error Evaluation::chooseFor(const Array &output) {
  const Labels *given = labels ? &*labels : nullptr;
  if (!metric) {
    llvm::Expected<std::unique_ptr<Metric>> chosen =
        chooseMetric(output, given);
    if (!chosen)
      return chosen.takeError();
    metric = std::move(*chosen);
  }
  if (const std::string wrong = metric->checkOutput(output); !wrong.empty())
    return makeError("the first output, " +
                     formatShape(output.dims.data(), output.dims.size()) +
                     ", " + wrong +
                     ": name another metric than --metric=" + metric->name());
  const std::string wrong = given ? metric->checkLabels(*given, output) : "";
  return errorIf(wrong.empty() ? "" : name() + "array 'labels' " + wrong);
}

/// Adds the target of the next sample.
llvm::Error Evaluation::addTarget(const Array &output) {
  if (targets.empty())
    if (llvm::Error error = chooseFor(output))
      return error;
  if (!labels) {
    targets.push_back(metric->targetOf(output));
    return llvm::Error::success();
  }
  const uint64_t count = metric->numLabels(*labels, output);
  const llvm::ArrayRef<double> all(labels->values);
  // After the last label, count the missing ones for the message.
  if (numTaken + count <= all.size())
    targets.push_back(
        metric->targetOf(all.slice(numTaken, count), *labels, output));
  else
    targets.emplace_back();
  numTaken += count;
  return llvm::Error::success();
}

llvm::Error Evaluation::hasChanged() const {
  return makeError(name() + "it has changed");
}

static void addTo(Sums &all, const Sums &one) {
  all.resize(std::max(all.size(), one.size()));
  for (size_t i = 0; i < one.size(); ++i)
    all[i] += one[i];
}

llvm::Error Evaluation::runReference(const Run &run, const Progress &progress) {
  Samples samples;
  Sums all;
  if (llvm::Error error =
          forEachOutput(run, samples, progress,
                        [&](const Array &output) -> llvm::Expected<bool> {
                          if (llvm::Error error = addTarget(output))
                            return atSample(samples.where(), std::move(error));
                          rows += metric->targetOf(output).values.size();
                          const Sums sums =
                              metric->compare(targets.back(), output);
                          if (sums.empty() && !labels)
                            return hasChanged();
                          addTo(all, sums);
                          return true;
                        }))
    return error;
  doubtful.assign(targets.size(), false);
  if (!labels)
    return llvm::Error::success();
  if (labels->values.size() != numTaken)
    return makeError(
        name() + "there are " + std::to_string(labels->values.size()) +
        " labels, but " + std::to_string(numTaken) +
        " rows of the first output by the metric " + metric->name());
  reference = metric->score(all);
  if (!(reference > 0))
    return makeError(name() + "fp32 is never right by the metric " +
                     metric->name() +
                     ": the labels are of other samples, or --metric must name "
                     "another metric");
  return llvm::Error::success();
}

llvm::Expected<double> Evaluation::rate(const Run &run,
                                        const Progress &progress) {
  size_t sample = 0;
  Sums all;
  Samples samples;
  if (llvm::Error error =
          forEachOutput(run, samples, progress,
                        [&](const Array &output) -> llvm::Expected<bool> {
                          if (sample >= targets.size())
                            return hasChanged();
                          const Sums sums =
                              metric->compare(targets[sample], output);
                          if (sums.empty())
                            return hasChanged();
                          if (sums != metric->perfect(targets[sample]))
                            doubtful[sample] = true;
                          addTo(all, sums);
                          ++sample;
                          return true;
                        }))
    return std::move(error);
  if (sample != targets.size())
    return hasChanged();
  return metric->score(all);
}

llvm::Expected<bool> Evaluation::reaches(const Run &run, double least,
                                         const Progress &progress) const {
  std::vector<PickedSample> picked;
  // The sums if all samples that are still to be run are right.
  Sums all;
  for (size_t i = 0; i < targets.size(); ++i) {
    addTo(all, metric->perfect(targets[i]));
    if (doubtful[i])
      picked.push_back({i, 1});
  }
  Samples samples;
  samples.choose(picked);
  size_t numSeen = 0;
  bool reached = metric->score(all) >= least;
  if (llvm::Error error =
          forEachOutput(run, samples, progress,
                        [&](const Array &output) -> llvm::Expected<bool> {
                          const Target &target =
                              targets[picked[numSeen++].number];
                          const Sums sums = metric->compare(target, output),
                                     perfect = metric->perfect(target);
                          if (sums.empty())
                            return hasChanged();
                          for (size_t i = 0; i < sums.size(); ++i)
                            all[i] += sums[i] - perfect[i];
                          return reached = metric->score(all) >= least;
                        }))
    return std::move(error);
  if (reached && numSeen != picked.size())
    return hasChanged();
  return reached;
}
