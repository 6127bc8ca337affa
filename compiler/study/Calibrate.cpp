//===- Calibrate.cpp - calibrates and repairs a model ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/Calibrate.h"

#include "client/Text.h"
#include "compiler/study/runs/TextFiles.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

static bool choosesBest(const CalibrateOptions &options) {
  auto isBest = [](const quantize::MethodChoice &choice) {
    return choice.method == quantize::Method::best;
  };
  return isBest(options.method) ||
         llvm::any_of(options.rules, [&](const quantize::Rule &rule) {
           return rule.method && isBest(*rule.method);
         });
}

static Calibrator::Options calibratorOptions(const CalibrateOptions &options) {
  Calibrator::Options chosen;
  chosen.model.model = options.model;
  chosen.model.sizes = options.sizes;
  chosen.model.threads = options.threads;
  chosen.data = options.data;
  chosen.method = options.method;
  chosen.rules = options.rules;
  if (options.numSamples)
    chosen.numSamples = options.numSamples;
  return chosen;
}

/// Tries repairs, as far as the outputs' error makes them necessary.
static llvm::Error repairIfNeeded(Calibrator &calibrator, Repairer &repairer,
                                  const CalibrateOptions &options,
                                  const Progress &progress,
                                  Calibration &result) {
  const uint64_t most = options.numSamples ? options.numSamples : UINT64_MAX;
  ErrorMeter meter(calibrator, most),
      comparator(calibrator, std::min(most, ErrorMeter::numFirst(calibrator)));
  llvm::Expected<std::vector<RepairTrial>> trials = repairer.runAutomatic(
      meter, comparator, result.file, result.outcome.emplace(), progress);
  if (!trials)
    return trials.takeError();
  result.trials = std::move(*trials);
  return llvm::Error::success();
}

/// Refuses an error that makes results useless. An error that is not finite
/// says nothing, because the model in fp32 has such values itself.
static llvm::Error checkError(const Calibration &calibration, double most) {
  const MeasuredError &left = calibration.outcome->after;
  if (!std::isfinite(left.error) ||
      !isUseless(left.error, left.strictError, most))
    return llvm::Error::success();
  const bool isLate =
      llvm::any_of(calibration.trials, [](const RepairTrial &trial) {
        return (trial.isOutOfTime || trial.isHurried) &&
               trial.name == nameOf(RepairKind::keep);
      });
  tools::TextBuilder text;
  text.add("int8 does not fit this model: output '%s' has a relative error of "
           "%.3g%s, above --max-error=%g; ",
           tools::formatLine(left.output, 200).c_str(), left.error,
           left.part.empty() ? "" : (" in " + left.part).c_str(), most);
  if (isLate)
    text.add("try --repair=keep, which has no limit of time, or ");
  text.add("use `ingot compile --precision=auto --eval`");
  return makeError(text.str());
}

llvm::Expected<Calibration> ingot::study::calibrate(CalibrateOptions options,
                                                    const Progress &progress) {
  const bool isBest = choosesBest(options);
  if (options.numSamples && !isBest && options.repairs.isNone())
    return makeUsageError("--samples is for method best and --repair");
  const double repairs = options.repairs.isNone() ? 0 : 4;
  Stages stages(progress, {3, isBest ? 3.0 : 0.1, repairs});
  const Calibrator::Options chosen = calibratorOptions(options);
  Calibrator calibrator(chosen);
  if (llvm::Error error = calibrator.watch(stages.next()))
    return std::move(error);
  llvm::Expected<quantize::Calibration> found =
      calibrator.choose(stages.next());
  if (!found)
    return found.takeError();
  Calibration result;
  result.file = std::move(*found);
  Repairer repairer(chosen, calibrator);
  if (options.repairs.isAutomatic) {
    if (llvm::Error error = repairIfNeeded(calibrator, repairer, options,
                                           stages.next(), result))
      return std::move(error);
    if (llvm::Error error = checkError(result, options.maxError))
      return std::move(error);
  } else if (!options.repairs.isNone()) {
    llvm::Expected<std::vector<RepairTrial>> trials =
        repairer.run(options.repairs.kinds, result.file, stages.next());
    if (!trials)
      return trials.takeError();
    result.trials = std::move(*trials);
  }
  if (llvm::Error error = checkCancelled(progress))
    return std::move(error);
  progress.step("done", 1);
  return result;
}

llvm::Error ingot::study::writeCalibration(const Calibration &calibration,
                                           const std::string &path) {
  return writeTexts({{path, toText(calibration.file)}});
}
