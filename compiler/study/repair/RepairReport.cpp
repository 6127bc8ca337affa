//===- RepairReport.cpp - a calibration in words --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/RepairReport.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace ingot;
using namespace ingot::study;
using llvm::format;

static void writeOutcome(llvm::raw_ostream &out, const RepairOutcome &outcome,
                         bool isRepaired, uint64_t samples) {
  constexpr double kMost = ErrorMeter::kMostError;
  const MeasuredError &after = outcome.after;
  if (!std::isfinite(after.error)) {
    out << "int8: output '" << formatLine(after.output, 200)
        << "' is infinite or not a number on the samples: no repair can be "
           "measured\n";
    return;
  }
  out << "int8: relative error of output '" << formatLine(after.output, 200)
      << "' " << format("%.6f", after.error);
  if (after.low < after.high)
    out << format(" (95 %% interval %.6f to %.6f)", after.low, after.high);
  out << " on " << after.samples << " of " << samples << " samples";
  if (isRepaired)
    out << format(", %.6f before repairs\n", outcome.before.error);
  else if (after.error <= kMost)
    out << format(", at most %g: nothing to repair\n", kMost);
  else
    out << ": no repair can be measured\n";
  if (!after.part.empty())
    out << "  the error of " << after.part << '\n';
  if (isRepaired && after.error > kMost)
    out << format("the error is above %g: ", kMost)
        << "`ingot compare --sensitivity` shows which layers cause it\n";
}

static void writeTrial(llvm::raw_ostream &out, const RepairTrial &trial) {
  if (trial.isOutOfTime)
    return;
  out << "repair " << trial.name << ": relative error of the outputs from "
      << format("%.6f to %.6f, ", trial.before, trial.after)
      << (trial.isKept ? "kept" : "left out") << '\n';
  if (!trial.isKept)
    return;
  for (const std::string &node : trial.kept)
    out << "  the layer of node '" << formatLine(node, 200)
        << "' stays in fp32\n";
}

/// Writes the repairs that had no time, in one line.
static void writeOutOfTime(llvm::raw_ostream &out,
                           llvm::ArrayRef<RepairTrial> trials) {
  llvm::SetVector<llvm::StringRef> names;
  for (const RepairTrial &trial : trials)
    if (trial.isOutOfTime)
      names.insert(llvm::StringRef(trial.name).split(' ').first);
  if (!names.empty())
    out << "left out, because they take long: --repair="
        << llvm::join(names, ",") << " has no limit of time\n";
}

std::string ingot::study::textReport(const Calibration &calibration,
                                     const std::string &file) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << formatLine(file, 200) << ": " << calibration.file.tensors.size()
      << " tensors, " << calibration.file.method << " of "
      << calibration.file.samples << " samples\n";
  for (const RepairTrial &trial : calibration.trials)
    writeTrial(out, trial);
  writeOutOfTime(out, calibration.trials);
  if (calibration.outcome)
    writeOutcome(out, *calibration.outcome, !calibration.trials.empty(),
                 calibration.file.samples);
  return text;
}
