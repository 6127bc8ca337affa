//===- ReadSamples.h - reading the samples of a study -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_READSAMPLES_H
#define INGOT_COMPILER_STUDY_RUNS_READSAMPLES_H

#include "compiler/study/runs/Client.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace ingot::study {

/// The samples of a study: files, or folders of files.
struct SampleFiles {
  std::vector<std::string> paths;
  Preprocess preprocess;
  /// The samples to read, in ascending order. If not set, all are read.
  std::optional<std::vector<PickedSample>> picked = std::nullopt;
};

/// Returns a progress that reports every step as `phase`.
Progress withPhase(const Progress &progress, const std::string &phase);

/// Opens the files. Reads no sample yet.
llvm::Error openSamples(const SampleFiles &files, Samples &samples);

/// Reads all samples and passes each to `visit`. Stops if `visit` returns
/// false. Reports each sample as a step.
llvm::Error forEachSample(
    Samples &samples, const Progress &progress,
    llvm::function_ref<llvm::Expected<bool>(std::vector<Array> &inputs)> visit);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_READSAMPLES_H
