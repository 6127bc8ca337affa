//===- Verdict.cpp - if an artifact's error is acceptable -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/Verdict.h"

#include "base/OptionTable.h"
#include "compiler/study/repair/ErrorMeter.h"

#include <cmath>
#include <stdlib.h>

using namespace ingot;
using namespace ingot::study;

/// Returns the error above which results are useless: by default, `ingot
/// calibrate` refuses it.
static double uselessError() {
  return strtod(cli::CalibrateFlags().maxError.c_str(), nullptr);
}

Verdict ingot::study::judgeErrors(llvm::ArrayRef<SampleErrors> samples,
                                  llvm::ArrayRef<std::string> names) {
  const ErrorEstimate worst = estimateError(samples);
  Verdict verdict;
  if (worst.output < names.size())
    verdict.output = names[worst.output];
  verdict.part = worst.part;
  verdict.error = worst.error;
  verdict.kind = !std::isfinite(worst.error) ? Verdict::Kind::notFinite
                 : isUseless(worst.error, worst.strictError, uselessError())
                     ? Verdict::Kind::useless
                 : worst.error > ErrorMeter::kMostError
                     ? Verdict::Kind::doubtful
                     : Verdict::Kind::good;
  return verdict;
}

std::string Verdict::name() const {
  switch (kind) {
  case Kind::good:
    return "good";
  case Kind::doubtful:
    return "doubtful";
  case Kind::useless:
    return "useless";
  case Kind::notFinite:
    return "not finite";
  }
  return "";
}

std::string Verdict::text() const {
  const std::string of = "output '" + formatLine(output, 60) + "'";
  tools::TextBuilder text;
  text.add("verdict: %s, ", name().c_str());
  if (kind == Kind::good)
    text.add("no output has a relative error above %g", ErrorMeter::kMostError);
  else if (kind == Kind::notFinite)
    text.add("%s is infinite or not a number in one of both models",
             of.c_str());
  else
    text.add("%s has a relative error of %.3g%s: %s", of.c_str(), error,
             part.empty() ? "" : (" in " + part).c_str(),
             kind == Kind::useless
                 ? "use another precision, or keep layers in fp32"
                 : "labels and --metric tell if the results suffice");
  return text.str();
}
