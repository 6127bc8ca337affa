//===- Calibrate.cpp - ingot calibrate ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/CalibrationFile.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/Repair.h"
#include "tools/ingot/calibrate/TextFiles.h"
#include "tools/ingot/inputs/Inputs.h"

#include "llvm/Support/Path.h"

#include <stdlib.h>

using namespace ingot;
using namespace ingot::tools;

namespace {

struct Options {
  std::string model, output, rules;
  Preprocess preprocess;
  std::vector<std::string> data, shapes, dims;
  unsigned threads = 0, numSamples = 0;
  quantize::MethodChoice method;
  RepairChoice repairs;
};

} // namespace

static bool choosesBest(const Calibrator::Options &options) {
  auto isBest = [](const quantize::MethodChoice &choice) {
    return choice.method == quantize::Method::best;
  };
  return isBest(options.method) ||
         llvm::any_of(options.rules, [&](const quantize::Rule &rule) {
           return rule.method && isBest(*rule.method);
         });
}

static void printOutcome(const Repairer::Outcome &outcome, bool isRepaired) {
  constexpr double kMost = Repairer::kMostError;
  printf("int8: relative error of the outputs %.6f on %llu samples",
         outcome.after, static_cast<unsigned long long>(outcome.samples));
  if (isRepaired)
    printf(", %.6f before repairs\n", outcome.before);
  else if (outcome.after <= kMost)
    printf(", no more than %g: nothing to repair\n", kMost);
  else
    printf(": nothing that repairs could be measured by\n");
  if (isRepaired && outcome.after > kMost)
    printf("that is more than %g: `ingot compare --sensitivity` tells which "
           "layers make it\n",
           kMost);
}

static std::vector<std::string> filesRead(const Options &options) {
  std::vector<std::string> files = options.data;
  if (!options.rules.empty())
    files.push_back(options.rules);
  return files;
}

static int calibrate(const Options &options, const OptionParser &parser) {
  Calibrator::Options chosen;
  chosen.model.model = options.model;
  chosen.model.shapes = options.shapes;
  chosen.model.dims = options.dims;
  chosen.model.threads = options.threads;
  chosen.data = options.data;
  chosen.method = options.method;
  chosen.preprocess = options.preprocess;
  const Progress progress(parser);
  std::string problem =
      checkWritable(options.output, options.model, filesRead(options));
  if (problem.empty() && !options.rules.empty())
    problem = quantize::readRules(options.rules, chosen.rules);
  if (!problem.empty())
    return progress.fail(problem);
  if (options.numSamples && !choosesBest(chosen) && options.repairs.isNone())
    return parser.usageError("--samples is for method best and --repair");
  if (options.numSamples)
    chosen.numSamples = options.numSamples;
  Calibrator calibrator(chosen, parser, progress);
  quantize::Calibration result;
  if (int code = calibrator.watch())
    return code;
  if (int code = calibrator.choose(result))
    return code;
  Repairer repairer(chosen, calibrator.survey(), parser, progress);
  std::vector<Repairer::Trial> trials;
  Repairer::Outcome outcome;
  if (options.repairs.isAutomatic) {
    std::vector<KnownSample> picked;
    if (int code = calibrator.readPicked(chosen.numSamples,
                                         Repairer::kMostKept, picked))
      return code;
    if (int code = repairer.runAutomatic(
            picked,
            options.numSamples ? options.numSamples
                               : Repairer::kComparedSamples,
            result, trials, outcome))
      return code;
  } else if (!options.repairs.isNone()) {
    if (int code = repairer.run(options.repairs.kinds, result, trials))
      return code;
  }
  problem = writeTexts({{options.output, toText(result)}});
  if (!problem.empty())
    return progress.fail(problem);
  printf("%s: %zu tensors, %s of %llu samples\n",
         formatLine(options.output, 200).c_str(),
         result.tensors.size(), result.method.c_str(),
         static_cast<unsigned long long>(result.samples));
  for (const Repairer::Trial &trial : trials)
    printf("repair %s: relative error of the outputs from %.6f to %.6f, %s\n",
           trial.name.c_str(), trial.before, trial.after,
           trial.isKept() ? "kept" : "left out");
  if (options.repairs.isAutomatic)
    printOutcome(outcome, !trials.empty());
  return exitSuccess;
}

int ingot::calibrateMain(int argc, char **argv) {
  Options options;
  OptionParser parser(
      "calibrate", "MODEL.onnx --data DATA [options]",
      "Runs a model on samples and writes the ranges that its tensors need in "
      "int8.",
      "ingot calibrate resnet50.onnx --data pictures/ "
      "--preprocess resize=256,crop=224 -o resnet50.calib.json");
  parser.list("data", "PATH", options.data,
              ".npz or .npy files, pictures, or a folder of them");
  parser.value("o", "FILE", options.output,
               "what to write (default: MODEL.calib.json)");
  addPreprocessOption(parser, options.preprocess);
  parser.custom(
      "method", "NAME",
      [&](const std::string &name) -> std::string {
        std::optional<quantize::Method> method = quantize::findMethod(name);
        if (!method)
          return "must be " + quantize::methodNames();
        options.method.method = *method;
        return "";
      },
      quantize::methodNames() + "; the first is the default");
  parser.custom(
      "percentile", "P",
      [&](const std::string &text) -> std::string {
        char *end = nullptr;
        options.method.percentile = strtod(text.c_str(), &end);
        bool isRight = !text.empty() && !*end &&
                       quantize::isPercentile(options.method.percentile);
        return isRight ? "" : "must be above 50 and at most 100";
      },
      "how much of a tensor lies in its range (default: 99.999)");
  parser.number("samples", "N", options.numSamples, 1, 1000000,
                "for method best and --repair: how many of the samples "
                "(default: 8)");
  parser.custom(
      "repair", "LIST",
      [&](const std::string &text) {
        return parseRepairs(text, options.repairs);
      },
      "auto, the default: repairs to try if the outputs' error is large; none; "
      "or equalize, smooth, round, bias. Kept is what lowers it");
  parser.value("rules", "FILE", options.rules,
               "JSON that names other methods for some tensors");
  parser.list("shape", "NAME=AxB...", options.shapes,
              "shape of an input, as ingot compile has it");
  parser.list("dim", "NAME=N", options.dims, "size of a named dimension");
  parser.number("threads", "N", options.threads, 1, 1024,
                "threads to use (default: the CPUs this process may use)");
  int exitCode = 0;
  if (!parser.parse(argc, argv, options.model, exitCode))
    return exitCode;
  if (options.data.empty())
    return parser.usageError("--data is missing: files or a folder of samples");
  if (options.output.empty()) {
    llvm::SmallString<128> name(llvm::sys::path::filename(options.model));
    llvm::sys::path::replace_extension(name, "calib.json");
    options.output = std::string(name);
  }
  return calibrate(options, parser);
}
