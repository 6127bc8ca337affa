//===- InputOptions.cpp - options that describe inputs --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/InputOptions.h"

#include "client/SizeText.h"
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

/// Checks the form of `NAME=SIZES`. The model decides if the sizes are valid,
/// and the command if ranges are allowed.
static std::string checkSizes(const std::string &spec, bool isDim,
                              const char *form) {
  std::string name, text, problem;
  std::vector<SizeText> sizes;
  bool hasName = splitNameAndValue(spec, name, text);
  bool hasRange = text.find(':') != std::string::npos;
  if (hasName && (hasRange || (parseSizesText(text, sizes, problem) &&
                               (!isDim || sizes.size() == 1))))
    return "";
  return "must be " + std::string(form) + ", not '" + spec + "'" +
         (problem.empty() ? "" : ": " + problem);
}

void ingot::tools::addShapeOptions(OptionParser &parser, InputSpecs &specs) {
  parser.addShape(specs);
  parser.check("shape", [](const std::string &spec) {
    return checkSizes(spec, /*isDim=*/false, "NAME=AxB..., e.g. x=1x3x48x320");
  });
  parser.check("dim", [](const std::string &spec) {
    return checkSizes(spec, /*isDim=*/true, "NAME=N, e.g. batch=1");
  });
}

void ingot::tools::addInputOptions(OptionParser &parser, InputSpecs &specs) {
  parser.addInput(specs);
  addShapeOptions(parser, specs);
  addPreprocessOption(parser, specs.pictures, specs.preprocess);
}
