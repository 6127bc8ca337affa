//===- ReadSamples.cpp - reading the samples of a study -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/ReadSamples.h"

using namespace ingot;
using namespace ingot::study;

Progress study::withPhase(const Progress &progress, const std::string &phase) {
  Progress result = progress;
  result.onStep = [progress, phase](const std::string &, double fraction) {
    progress.step(phase, fraction);
  };
  return result;
}

llvm::Error study::openSamples(const SampleFiles &files, Samples &samples) {
  samples.setPreprocess(files.preprocess);
  return errorIf(samples.open(files.paths));
}

llvm::Error study::forEachSample(
    Samples &samples, const Progress &progress,
    llvm::function_ref<llvm::Expected<bool>(std::vector<Array> &inputs)>
        visit) {
  std::vector<Array> inputs;
  std::string problem;
  while (samples.next(inputs, problem)) {
    if (llvm::Error error = checkCancelled(progress))
      return error;
    progress.step(samples.progress(), samples.fraction());
    llvm::Expected<bool> goesOn = visit(inputs);
    if (!goesOn)
      return goesOn.takeError();
    if (!*goesOn)
      break;
  }
  return errorIf(problem);
}
