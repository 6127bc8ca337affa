//===- Evaluation.cpp - how right a model is -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/precision/Evaluation.h"

using namespace ingot;
using namespace ingot::study;

llvm::Error Evaluation::open() {
  Samples samples;
  if (llvm::Error error = openSamples({{path}, preprocess}, samples))
    return error;
  return verdicts.readLabelsOf(path);
}

llvm::Error Evaluation::setModel(std::vector<InputSpec> specs,
                                 std::vector<std::string> outputs) {
  inputs = std::move(specs);
  return verdicts.setModel(inputs, std::move(outputs));
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
                         return visit(out);
                       });
}

llvm::Error Evaluation::runReference(const Run &run, const Progress &progress) {
  Samples samples;
  if (llvm::Error error = forEachOutput(
          run, samples, progress,
          [&](const std::vector<Array> &outputs) -> llvm::Expected<bool> {
            if (llvm::Error error =
                    verdicts.addReference(outputs, samples.where()))
              return std::move(error);
            return true;
          }))
    return error;
  doubtful.assign(verdicts.numSamples(), false);
  if (llvm::Error error = verdicts.endReference(progress))
    return error;
  return verdicts.checkReference();
}

/// Scores all samples. Sets the samples whose results are not right.
llvm::Expected<Score> Evaluation::rateAll(const Run &run,
                                          const Progress &progress,
                                          std::vector<bool> *isDoubtful) const {
  size_t sample = 0;
  Rating rating(verdicts);
  Samples samples;
  if (llvm::Error error = forEachOutput(
          run, samples, progress,
          [&](const std::vector<Array> &outputs) -> llvm::Expected<bool> {
            if (llvm::Error error = rating.add(outputs))
              return std::move(error);
            if (isDoubtful && !rating.isPerfect())
              (*isDoubtful)[sample] = true;
            ++sample;
            return true;
          }))
    return std::move(error);
  return rating.end(progress);
}

llvm::Expected<Score> Evaluation::rate(const Run &run,
                                       const Progress &progress) {
  return rateAll(run, progress, &doubtful);
}

llvm::Expected<bool> Evaluation::reaches(const Run &run, double least,
                                         const Progress &progress) const {
  if (verdicts.isOfAllSamples()) {
    llvm::Expected<Score> score = rateAll(run, progress, nullptr);
    if (!score)
      return score.takeError();
    return score->percent >= least;
  }
  std::vector<PickedSample> picked;
  // The sums if all samples that are still to be run are right.
  Sums all;
  for (size_t i = 0; i < verdicts.numSamples(); ++i) {
    verdicts.addPerfect(all, i);
    if (doubtful[i])
      picked.push_back({i, 1});
  }
  Samples samples;
  samples.choose(picked);
  size_t numSeen = 0;
  bool reached = verdicts.percentOf(all) >= least;
  if (llvm::Error error = forEachOutput(
          run, samples, progress,
          [&](const std::vector<Array> &outputs) -> llvm::Expected<bool> {
            const size_t number = picked[numSeen++].number;
            llvm::Expected<Sums> sums = verdicts.compare(number, outputs);
            if (!sums)
              return sums.takeError();
            const Sums perfect = verdicts.perfect(number);
            for (size_t i = 0; i < sums->size(); ++i)
              all[i] += (*sums)[i] - perfect[i];
            return reached = verdicts.percentOf(all) >= least;
          }))
    return std::move(error);
  if (reached && numSeen != picked.size())
    return verdicts.hasChanged();
  return reached;
}
