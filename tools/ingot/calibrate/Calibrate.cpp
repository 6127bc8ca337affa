//===- Calibrate.cpp - ingot calibrate ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"
#include "compiler/quantize/Methods.h"
#include "compiler/quantize/RulesFile.h"
#include "passes/quantize/CalibrationFile.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/BestMethods.h"
#include "tools/ingot/calibrate/Samples.h"
#include "tools/ingot/calibrate/ScratchModel.h"
#include "tools/ingot/calibrate/Watch.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <stdlib.h>

using namespace ingot;
using namespace ingot::tools;
using llvm::StringRef;

static constexpr uint64_t kFewSamples = 10;

namespace {

struct Options {
  std::string model, output, preprocess, rules;
  std::vector<std::string> data, shapes, dims;
  unsigned threads = 0, numSamples = 0;
  quantize::MethodChoice method;
};

/// One calibration: compile, run, find ranges, write.
class Calibration {
public:
  Calibration(const Options &options, const OptionParser &parser)
      : options(options), parser(parser), progress(parser),
        model(parser, progress), probe(parser, progress) {}

  int run();

private:
  std::string checkOutput();
  ScratchModel::Options scratchOptions() const;
  std::string runAll();
  std::string runOne(Watch &watch, const std::vector<Array> &inputs);
  bool choosesBest() const;
  std::string chooseMethods();
  void findRanges(const Watch &watch);
  int chooseBestMethods();
  void setRanges();
  std::string write();

  const Options &options;
  const OptionParser &parser;
  const Progress progress;
  ScratchModel model;
  /// For methods that are chosen by measurement.
  Probe probe;
  Preprocess preprocess;
  std::unique_ptr<Samples> samples;
  std::vector<quantize::Rule> rules;
  /// Of each tensor.
  std::vector<quantize::MethodChoice> methods;
  std::vector<RangeChoice> choices;
  quantize::Calibration result;
};

} // namespace

/// That nothing stands in the way of the file is known before the work is done.
std::string Calibration::checkOutput() {
  StringRef path = options.output;
  StringRef folder = llvm::sys::path::parent_path(path);
  auto cannot = [&](const std::string &why) {
    return "cannot write '" + formatLine(options.output, 200) + "': " + why;
  };
  if (std::error_code error = llvm::sys::fs::access(
          folder.empty() ? "." : folder, llvm::sys::fs::AccessMode::Write))
    return cannot(error.message());
  if (llvm::sys::fs::is_directory(path))
    return cannot("it is a directory");
  if (llvm::sys::fs::equivalent(path, options.model))
    return cannot("it is the model itself");
  for (const std::string &data : options.data)
    if (llvm::sys::fs::equivalent(path, data))
      return cannot("it is the data");
  return "";
}

ScratchModel::Options Calibration::scratchOptions() const {
  ScratchModel::Options scratch;
  scratch.model = options.model;
  scratch.shapes = options.shapes;
  scratch.dims = options.dims;
  scratch.threads = options.threads;
  return scratch;
}

std::string Calibration::runOne(Watch &watch,
                                const std::vector<Array> &inputs) {
  std::string problem;
  const ingot_status status =
      model.run(inputs, Watch::observe, &watch, problem);
  if (watch.notFinite() >= 0)
    return "tensor '" +
           formatLine(model.observed()[size_t(watch.notFinite())], 200) +
           "' becomes infinite or not a number on " + samples->where();
  return status == INGOT_OK ? "" : samples->where() + ": " + problem;
}

bool Calibration::choosesBest() const {
  auto isBest = [](const quantize::MethodChoice &choice) {
    return choice.method == quantize::Method::best;
  };
  return isBest(options.method) ||
         llvm::any_of(rules, [&](const quantize::Rule &rule) {
           return rule.method && isBest(*rule.method);
         });
}

/// One for each tensor, as rules have it.
std::string Calibration::chooseMethods() {
  std::string problem = checkMethodRules(rules, model.observed());
  for (const std::string &name : model.observed())
    methods.push_back(methodFor(name, rules, options.method));
  return problem;
}

std::string Calibration::runAll() {
  Watch::Options wanted;
  wanted.fillsBins = false;
  for (const quantize::MethodChoice &method : methods) {
    wanted.averages |= method.needsAverages();
    wanted.fillsBins |= method.needsBins();
  }
  wanted.threads = model.threads();
  Watch watch(model.observed().size(), wanted);
  std::vector<Array> inputs;
  std::string problem;
  while (samples->next(inputs, problem)) {
    progress.show(samples->progress());
    problem = runOne(watch, inputs);
    if (!problem.empty())
      return problem;
  }
  if (!problem.empty())
    return problem;
  progress.show("finding ranges");
  findRanges(watch);
  progress.clear();
  return "";
}

void Calibration::findRanges(const Watch &watch) {
  const std::vector<std::string> &names = model.observed();
  result.samples = samples->count();
  result.method = nameOf(options.method.method);
  if (result.samples < kFewSamples)
    progress.warn("there " +
                  std::string(result.samples == 1
                                  ? "is 1 sample"
                                  : "are " + std::to_string(result.samples) +
                                        " samples") +
                  ": ranges may be too narrow; 100 to 500 are usual");
  for (size_t i = 0; i < names.size(); ++i) {
    const quantize::WatchedTensor tensor = watch.result(i);
    const quantize::Histogram &histogram = tensor.histogram;
    // What no sample computed is left as it is.
    if (!histogram.count())
      continue;
    if (histogram.min() == histogram.max())
      progress.warn("tensor '" + formatLine(names[i], 200) + "' was always " +
                    std::to_string(histogram.min()));
    choices.push_back({names[i], candidatesOf(tensor, methods[i])});
    result.tensors.push_back({names[i], histogram.min(), histogram.max()});
  }
}

/// 0, or the code to end with once what is wrong was printed.
int Calibration::chooseBestMethods() {
  if (llvm::all_of(choices, [](const RangeChoice &choice) {
        return choice.candidates.size() == 1;
      }))
    return exitSuccess;
  if (int code = probe.prepare(scratchOptions()))
    return code;
  Samples first(preprocess);
  std::string problem = first.open(options.data);
  first.setInputs(probe.scratch().inputs());
  if (problem.empty())
    problem = probe.readSamples(first, options.numSamples ? options.numSamples
                                                          : kUsualSamples);
  if (problem.empty())
    problem = chooseBest(probe, progress, choices);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

void Calibration::setRanges() {
  for (auto [choice, tensor] : llvm::zip_equal(choices, result.tensors)) {
    const RangeChoice::Candidate &chosen = choice.candidates[choice.chosen];
    tensor.scale = chosen.encoding.scale;
    tensor.zeroPoint = chosen.encoding.zeroPoint;
    if (nameOf(chosen.method) != result.method)
      tensor.method = nameOf(chosen.method);
  }
}

std::string Calibration::write() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  quantize::writeCalibration(result, stream);
  StringRef path = options.output;
  FileSet files;
  int descriptor = -1;
  std::string problem = files.open(llvm::sys::path::parent_path(path).str());
  if (problem.empty())
    problem = files.create(/*isExecutable=*/false, descriptor);
  if (problem.empty()) {
    llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/false);
    out << text;
    out.flush();
    if (out.has_error()) {
      problem = out.error().message();
      out.clear_error();
    }
  }
  if (problem.empty())
    problem =
        files.publish({{descriptor, llvm::sys::path::filename(path).str()}});
  return problem.empty() ? ""
                         : "cannot write '" + formatLine(options.output, 200) +
                               "': " + problem;
}

int Calibration::run() {
  if (!options.preprocess.empty())
    if (std::string wrong = preprocess.parse(options.preprocess);
        !wrong.empty())
      return parser.usageError("--preprocess: " + wrong);
  std::string problem = checkOutput();
  if (!problem.empty())
    return progress.fail(problem);
  result.model = llvm::sys::path::filename(options.model).str();
  // Wrong names cost no compilation.
  if (!options.rules.empty())
    problem = quantize::readRules(options.rules, rules);
  if (!problem.empty())
    return progress.fail(problem);
  if (options.numSamples && !choosesBest())
    return parser.usageError("--samples is for method best");
  samples = std::make_unique<Samples>(preprocess);
  problem = samples->open(options.data);
  if (!problem.empty())
    return progress.fail(problem);
  ScratchModel::Options scratch = scratchOptions();
  scratch.pipeline.observe = true;
  if (int code = model.prepare(scratch))
    return code;
  if (model.observed().empty())
    return progress.fail(
        "'" + formatLine(options.model, 200) +
        "' has no convolution or matrix product of float32 with "
        "constant weights that could be quantized");
  result.sha256 = model.sha256();
  samples->setInputs(model.inputs());
  problem = chooseMethods();
  if (problem.empty())
    problem = runAll();
  if (!problem.empty())
    return progress.fail(problem);
  if (int code = chooseBestMethods())
    return code;
  setRanges();
  problem = write();
  if (!problem.empty())
    return progress.fail(problem);
  printf("%s: %zu tensors, %s of %llu samples\n", options.output.c_str(),
         result.tensors.size(), result.method.c_str(),
         static_cast<unsigned long long>(result.samples));
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
  parser.value("preprocess", "HOW", options.preprocess,
               "of pictures: resize=SIDE or WxH, crop=SIDE, scale=F, "
               "mean=R:G:B, std=R:G:B, order=rgb|bgr");
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
                "for method best: how many of the samples (default: 8)");
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
  return Calibration(options, parser).run();
}
