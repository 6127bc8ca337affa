//===- Compare.cpp - ingot compare ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Commands.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/calibrate/Comparison.h"
#include "tools/ingot/calibrate/Repair.h"

#include <stdlib.h>

using namespace ingot;
using namespace ingot::tools;

static std::string parseBound(const std::string &text,
                              std::optional<double> &bound) {
  char *end = nullptr;
  const double value = strtod(text.c_str(), &end);
  if (text.empty() || *end || !std::isfinite(value) || value < 0)
    return "must be a number of at least 0, not '" + text + "'";
  bound = value;
  return "";
}

static void addOptions(OptionParser &parser, CompareOptions &options) {
  parser.list("data", "PATH", options.data,
              ".npz or .npy files, pictures, or a folder of them");
  addInputOptions(parser, options.inputs);
  parser.custom(
      "reference", "NAME",
      [&](const std::string &name) -> std::string {
        options.usesOnnxRuntime = name == "onnxruntime";
        return options.usesOnnxRuntime || name == "fp32"
                   ? ""
                   : "must be fp32 or onnxruntime, not '" + name + "'";
      },
      "what to compare with: fp32, MODEL.onnx as ingot compiles it (default); "
      "or onnxruntime, in a Python process");
  parser.value("python", "FILE", options.python,
               "interpreter that has onnxruntime (default: python3)");
  auto bound = [&](const char *name, std::optional<double> &value,
                   const char *help) {
    parser.custom(
        name, "X",
        [&](const std::string &text) { return parseBound(text, value); }, help);
  };
  bound("atol", options.tolerance.absolute,
        "fail if an element is off by more than atol + rtol |reference|");
  bound("rtol", options.tolerance.relative, "the same (default of each: 0)");
  bound("max-error", options.tolerance.output,
        "fail if the relative error of an output is larger");
  parser.flag("per-layer", options.perLayer,
              "compare the tensors that int8 would quantize, too: in "
              "MODEL.onnx, compiled once more as MODEL.so was");
  parser.flag("sensitivity", options.sensitivity,
              "find what each layer alone in int8 does to the outputs");
  parser.number("samples", "N", options.numSamples, 1, 1000000,
                "for --sensitivity: how many of the samples (default: 8)");
  parser.value("calibration", "FILE", options.calibration,
               "for both: what ingot calibrate wrote (default: what MODEL.so "
               "was compiled with, if it is found)");
  parser.list("keep", "GLOB=fp32", options.keep,
              "for both: nodes that are not quantized");
  parser.value("rules", "FILE", options.rules,
               "for both: the same as JSON, as ingot compile has it");
  parser.number("threads", "N", options.threads, 1, 1024,
                "threads to use (default: the CPUs this process may use)");
  parser.flag("json", options.json, "print one JSON object");
  parser.exitCode("3 outputs are beyond --atol, --rtol or --max-error");
}

/// Returns a message about options that contradict each other, or "".
static std::string checkOptions(const CompareOptions &options) {
  if (options.model.empty())
    return "no model.onnx is given";
  const bool hasInputs = !options.inputs.inputs.empty();
  if (options.data.empty() && !hasInputs)
    return "--data is missing: files or a folder of samples; or one sample "
           "with --input";
  if (!options.data.empty() && hasInputs)
    return "--data and --input exclude each other";
  if (hasInputs && options.sensitivity)
    return "--sensitivity needs --data";
  if (options.usesOnnxRuntime && options.isByLayer())
    return "--per-layer and --sensitivity are for --reference=fp32";
  if (!options.usesOnnxRuntime && !options.python.empty())
    return "--python is for --reference=onnxruntime";
  for (auto [name, isGiven] :
       {std::pair("--calibration", !options.calibration.empty()),
        std::pair("--keep", !options.keep.empty()),
        std::pair("--rules", !options.rules.empty())})
    if (isGiven && !options.isByLayer())
      return std::string(name) + " is for --per-layer and --sensitivity";
  if (options.numSamples && !options.sensitivity)
    return "--samples is for --sensitivity";
  return "";
}

int ingot::compareMain(int argc, char **argv) {
  CompareOptions options;
  OptionParser parser(
      "compare", "MODEL.so MODEL.onnx [--data DATA] [options]",
      "Runs a compiled model and a reference on samples, and tells how far "
      "their outputs are apart.",
      "ingot compare resnet50.so resnet50.onnx --data pictures/ "
      "--reference=onnxruntime --max-error=1e-4");
  parser.optionalArgument(options.model);
  addOptions(parser, options);
  int exitCode = 0;
  if (!parser.parse(argc, argv, options.artifact, exitCode))
    return exitCode;
  // ONNX Runtime is a reference for any input, so random inputs are the
  // default. A comparison with fp32 says little for random inputs.
  if (options.usesOnnxRuntime && options.data.empty() &&
      options.inputs.inputs.empty())
    options.inputs.inputs.push_back("random");
  if (std::string problem = checkOptions(options); !problem.empty())
    return parser.usageError(problem);
  if (!options.numSamples)
    options.numSamples = kUsualSamples;
  return Comparison(options, parser).run();
}
