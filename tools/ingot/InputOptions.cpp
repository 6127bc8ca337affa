//===- InputOptions.cpp - options that describe inputs --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/InputOptions.h"

#include "client/SizeText.h"
#include "client/inputs/Request.h"
#include "tools/ingot/Options.h"

using namespace ingot::tools;

void ingot::tools::addPreprocessOption(OptionParser &parser,
                                       cli::PreprocessFlags &flags,
                                       Preprocess &preprocess) {
  parser.addPreprocess(flags);
  parser.check("preprocess", [&](const std::string &text) {
    std::string problem = preprocess.parse(text);
    return problem.empty() ? "" : "cannot be read: " + problem;
  });
}

/// Checks the form of `NAME=SIZES`. The model decides if the sizes are valid. A
/// command that takes ranges and open sizes checks these.
static std::string checkSizes(const std::string &spec, bool isDim,
                              bool takesRanges, const char *form) {
  std::string name, text, problem;
  std::vector<SizeText> sizes;
  bool hasName = splitNameAndValue(spec, name, text);
  bool hasRange = takesRanges && text.find(':') != std::string::npos;
  bool isRight =
      hasName && (hasRange || (parseSizesText(text, sizes, problem) &&
                               (!isDim || sizes.size() == 1)));
  for (const SizeText &size : sizes)
    isRight &= takesRanges || size.kind == SizeText::fixed;
  if (isRight)
    return "";
  return "must be " + std::string(form) + ", not '" + spec + "'" +
         (problem.empty() ? "" : ": " + problem);
}

void ingot::tools::addShapeOptions(OptionParser &parser, InputSpecs &specs,
                                   bool takesRanges) {
  parser.addShape(specs);
  parser.check("shape", [takesRanges](const std::string &spec) {
    return checkSizes(spec, /*isDim=*/false, takesRanges,
                      "NAME=AxB..., e.g. x=1x3x48x320");
  });
  parser.check("dim", [takesRanges](const std::string &spec) {
    return checkSizes(spec, /*isDim=*/true, takesRanges,
                      "NAME=N, e.g. batch=1");
  });
}

void ingot::tools::addInputOptions(OptionParser &parser, InputSpecs &specs,
                                   bool takesRanges) {
  parser.addInput(specs);
  parser.check("input", [](const std::string &spec) {
    uint64_t seed;
    bool isWrong = !spec.compare(0, 7, "random:") && !parseRandom(spec, seed);
    return isWrong ? "must have a whole number as the seed, not '" + spec + "'"
                   : std::string();
  });
  addShapeOptions(parser, specs, takesRanges);
  addPreprocessOption(parser, specs.pictures, specs.preprocess);
}

/// Returns true for `cpu`, `cuda`, `cuda:N` or `emulated`.
static bool isDevice(const std::string &text) {
  const std::string prefix = "cuda:";
  if (text.compare(0, prefix.size(), prefix))
    return text == "cpu" || text == "cuda" || text == "emulated";
  long long index;
  return parseNumber(text.substr(prefix.size()), index) && index >= 0 &&
         index <= UINT16_MAX;
}

void ingot::tools::addDeviceOption(OptionParser &parser,
                                   cli::DeviceFlags &flags) {
  parser.addDevice(flags);
  parser.check("device", [](const std::string &text) -> std::string {
    return isDevice(text)
               ? ""
               : "must be cpu, cuda, cuda:N or emulated, not '" + text + "'";
  });
}
