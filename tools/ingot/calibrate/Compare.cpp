//===- Compare.cpp - ingot compare ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/RulesFile.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/Rules.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Execute.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/Values.h"
#include "tools/ingot/bench/Json.h"
#include "tools/ingot/calibrate/ArtifactPrecision.h"
#include "tools/ingot/calibrate/OutputDifference.h"
#include "tools/ingot/calibrate/Repair.h"
#include "tools/ingot/calibrate/Samples.h"
#include "tools/ingot/calibrate/ScratchModel.h"
#include "tools/ingot/calibrate/Sensitivity.h"
#include "tools/ingot/calibrate/Watch.h"
#include "tools/ingot/inputs/Inputs.h"

#include <cassert>
#include <map>

using namespace ingot;
using namespace ingot::tools;

namespace {

struct Options {
  std::string artifact, model, calibration, rules;
  Preprocess preprocess;
  std::vector<std::string> data, shapes, dims, keep;
  unsigned threads = 0;
  /// 0: as usual.
  unsigned numSamples = 0;
  bool perLayer = false, sensitivity = false, json = false;

  /// Whether the model is compiled once more, as the artifact was.
  bool isByLayer() const { return perLayer || sensitivity; }
};

/// A tensor inside of the model, as in both precisions.
struct Inner {
  std::string name;
  Difference difference;
};

/// A model in its own precision and in fp32, on samples.
class Comparison {
public:
  Comparison(const Options &options, const OptionParser &parser)
      : options(options), parser(parser), progress(parser),
        reference(parser, progress), quantized(parser, progress),
        probe(parser, progress) {}

  int run();

private:
  std::string checkSignature() const;
  std::string findPrecision();
  int readKeep();
  ScratchModel::Options scratchOptions() const;
  int prepare();
  std::string runAll();
  int findSensitivity();
  std::string compareOutputs(const std::vector<Array> &inputs);
  std::string compareLayers(const std::vector<Array> &inputs);
  void print() const;
  void printLayers() const;
  void printJson() const;

  const Options &options;
  const OptionParser &parser;
  const Progress progress;
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  ScratchModel reference, quantized;
  Probe probe;
  Sensitivity sensitivity;
  quantize::Calibration calibration;
  std::unique_ptr<Samples> samples;
  /// What the artifact was compiled with, unless the command line says it.
  PipelineOptions pipeline;
  std::vector<OutputDifference> outputs;
  /// How large the outputs' errors are in each sample.
  SampleSurvey survey;
  std::vector<Inner> layers;
};

/// Keeps what a run shows, or compares with what another has shown.
struct Shown {
  std::map<uint64_t, std::vector<float>> *kept;
  /// Null: keep.
  std::vector<Inner> *compared;
};

} // namespace

static ingot_status observe(void *user, uint64_t number,
                            const ingot_tensor_view *view) {
  auto &shown = *static_cast<Shown *>(user);
  if (view->dtype != INGOT_FLOAT)
    return INGOT_OK;
  std::vector<float> &kept = (*shown.kept)[number];
  std::vector<float> values;
  forEachPiece(*view, values, [&](const float *piece, size_t size) {
    if (piece != values.data())
      values.insert(values.end(), piece, piece + size);
  });
  if (!shown.compared) {
    kept = std::move(values);
    return INGOT_OK;
  }
  assert(number < shown.compared->size() && "both show the same tensors");
  for (size_t i = 0; i < std::min(values.size(), kept.size()); ++i)
    (*shown.compared)[number].difference.add(double(kept[i]),
                                             double(values[i]));
  return INGOT_OK;
}

/// That both are of one model, as far as can be told.
std::string Comparison::checkSignature() const {
  auto describe = [](const std::vector<InputSpec> &inputs) {
    std::string text;
    for (const InputSpec &input : inputs)
      text += (text.empty() ? "" : ", ") + input.name + " " +
              formatShape(input.dims.data(), input.dims.size()) + " " +
              ingot_dtype_name(input.dtype);
    return text;
  };
  const std::string ours = describe(inputsOf(model.get())),
                    theirs = describe(reference.inputs());
  if (ours != theirs)
    return "'" + formatLine(options.artifact, 200) + "' takes " +
           formatLine(ours, 200) + ", but '" + formatLine(options.model, 200) +
           "' takes " + formatLine(theirs, 200) +
           ": give the --shape and --dim that it was compiled with";
  if (outputNames(model.get()) != outputNames(reference.handle()))
    return "'" + formatLine(options.artifact, 200) + "' and '" +
           formatLine(options.model, 200) + "' have other outputs";
  return "";
}

ScratchModel::Options Comparison::scratchOptions() const {
  ScratchModel::Options scratch;
  scratch.model = options.model;
  scratch.shapes = options.shapes;
  scratch.dims = options.dims;
  scratch.threads = options.threads;
  scratch.pipeline.weightBits = pipeline.weightBits;
  scratch.pipeline.fitPairs = pipeline.fitPairs;
  return scratch;
}

std::string Comparison::findPrecision() {
  if (!options.calibration.empty()) {
    pipeline.calibration = options.calibration;
    // As `ingot compile` has it by default.
    pipeline.fitPairs = true;
    return "";
  }
  std::string problem = readArtifactPrecision(model.get(), options.artifact,
                                              options.model, pipeline);
  if (problem.empty() && options.sensitivity && pipeline.calibration.empty())
    return "--sensitivity is of int8, and '" +
           formatLine(options.artifact, 200) +
           "' was compiled without a calibration: give --calibration=FILE";
  return problem;
}

/// Rules of the command line come first, then those of the file, then the
/// artifact's.
int Comparison::readKeep() {
  std::vector<quantize::Rule> rules;
  if (!options.rules.empty())
    if (std::string wrong = quantize::readRules(options.rules, rules);
        !wrong.empty())
      return progress.fail(wrong);
  const llvm::StringRef narrow = narrowName(pipeline);
  std::vector<std::string> keep;
  for (const std::string &rule : options.keep) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return parser.usageError("--keep='" + printable(rule) + "' " + wrong);
    keep.push_back(rule);
  }
  for (const std::string &rule : quantize::precisionRules(rules)) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return progress.fail("'" + printable(options.rules) + "': rule '" +
                           printable(rule) + "' " + wrong);
    keep.push_back(rule);
  }
  pipeline.keep.insert(pipeline.keep.begin(), keep.begin(), keep.end());
  return exitSuccess;
}

int Comparison::prepare() {
  std::string problem = createPool(options.threads, pool);
  if (problem.empty())
    problem = loadModel(options.artifact, "", pool.get(), model);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  // Wrong names cost no compilation.
  if (problem.empty() && options.isByLayer())
    problem = findPrecision();
  if (!problem.empty())
    return progress.fail(problem);
  if (int code = readKeep())
    return code;
  ScratchModel::Options scratch = scratchOptions();
  scratch.pipeline.observe = options.perLayer;
  if (!pipeline.calibration.empty()) {
    llvm::Expected<quantize::Calibration> read =
        quantize::readCalibration(pipeline.calibration);
    if (!read)
      return progress.fail(llvm::toString(read.takeError()));
    calibration = std::move(*read);
    // What is shown of both is of one graph.
    scratch.pipeline.equalize = calibration.equalize;
    scratch.pipeline.channels =
        calibration.channels.empty() ? "" : pipeline.calibration;
  }
  if (int code = reference.prepare(scratch))
    return code;
  problem = checkSignature();
  if (!problem.empty())
    return progress.fail(problem);
  if (!options.perLayer)
    return exitSuccess;
  scratch.pipeline = pipeline;
  scratch.pipeline.observe = true;
  if (int code = quantized.prepare(scratch))
    return code;
  for (const std::string &name : reference.observed())
    layers.push_back({name, {}});
  return exitSuccess;
}

/// Of some samples, which are read again.
int Comparison::findSensitivity() {
  ScratchModel::Options scratch = scratchOptions();
  const std::vector<std::string> &keep =
      pipeline.keepFromInt8.empty() ? pipeline.keep : pipeline.keepFromInt8;
  scratch.pipeline.keep = keep;
  setRepairs(calibration, pipeline.calibration, scratch.pipeline);
  if (int code = probe.prepare(scratch))
    return code;
  if (probe.units().empty())
    return progress.fail("--sensitivity has nothing to measure: " +
                         std::string(keep.empty()
                                         ? "int8 computes no layer of the model"
                                         : "all layers are kept in fp32"));
  if (std::string problem = probe.setRanges(calibration); !problem.empty())
    return progress.fail("'" + formatLine(pipeline.calibration, 200) + "' " +
                         problem);
  Samples picked(options.preprocess);
  std::string problem = picked.open(options.data);
  picked.setInputs(probe.scratch().inputs());
  picked.choose(survey.pick(options.numSamples));
  if (problem.empty())
    problem = probe.readSamples(picked);
  if (problem.empty())
    problem = measureSensitivity(probe, progress, sensitivity);
  return problem.empty() ? exitSuccess : progress.fail(problem);
}

std::string Comparison::compareOutputs(const std::vector<Array> &inputs) {
  std::vector<Array> got, wanted;
  ingot_error error = INGOT_ERROR_INIT;
  if (runToFit(model.get(), context.get(), inputs, got, error) ||
      runToFit(reference.handle(), reference.runs(), inputs, wanted, error))
    return samples->where() + ": " + error.message;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (got[i].dims != wanted[i].dims || got[i].dtype != wanted[i].dtype)
      return samples->where() + ": output '" + formatLine(outputs[i].name, 60) +
             "' has another shape or type in both";
    const double before = outputs[i].difference.error;
    outputs[i].add(wanted[i], got[i]);
    survey.see(i, std::sqrt(outputs[i].difference.error - before));
  }
  survey.endSample();
  return "";
}

std::string Comparison::compareLayers(const std::vector<Array> &inputs) {
  std::map<uint64_t, std::vector<float>> kept;
  Shown wanted = {&kept, nullptr}, got = {&kept, &layers};
  std::string problem;
  if (reference.run(inputs, observe, &wanted, problem) ||
      quantized.run(inputs, observe, &got, problem))
    return samples->where() + ": " + problem;
  return "";
}

std::string Comparison::runAll() {
  std::vector<Array> inputs;
  std::string problem;
  while (samples->next(inputs, problem)) {
    progress.show(samples->progress());
    problem = compareOutputs(inputs);
    if (problem.empty() && options.perLayer)
      problem = compareLayers(inputs);
    if (!problem.empty())
      return problem;
  }
  progress.clear();
  return problem;
}

//===----------------------------------------------------------------------===//
// Report
//===----------------------------------------------------------------------===//

static std::string digits(const char *format, double value) {
  char text[40];
  snprintf(text, sizeof(text), format, value);
  return text;
}

static std::string shownDecibels(const Difference &difference) {
  return std::isfinite(difference.decibels())
             ? digits("%.1f", difference.decibels())
             : "-";
}

void Comparison::print() const {
  printf("%llu samples, %s against fp32\n",
         static_cast<unsigned long long>(samples->count()),
         precisionOf(model.get()).c_str());
  std::vector<std::vector<std::string>> rows = {
      {"output", "relative error", "cosine", "largest error", "same largest"}};
  for (const OutputDifference &output : outputs)
    rows.push_back(
        {formatLine(output.name, 60),
         digits("%.6f", output.difference.relative()),
         digits("%.6f", output.difference.cosine()),
         digits("%.6g", output.difference.largest),
         output.rows > 0 ? digits("%.2f %%", output.percentAgreeing()) : "-"});
  printTable(rows);
  if (options.perLayer)
    printLayers();
  if (options.sensitivity)
    printSensitivity(probe, sensitivity);
}

void Comparison::printLayers() const {
  // What hurts most comes first.
  std::vector<const Inner *> sorted;
  for (const Inner &layer : layers)
    sorted.push_back(&layer);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Inner *a, const Inner *b) {
                     return a->difference.relative() > b->difference.relative();
                   });
  std::vector<std::vector<std::string>> rows = {
      {"tensor", "relative error", "signal to noise", "largest error"}};
  for (const Inner *layer : sorted)
    rows.push_back({formatLine(layer->name, 80),
                    digits("%.6f", layer->difference.relative()),
                    shownDecibels(layer->difference) + " dB",
                    digits("%.6g", layer->difference.largest)});
  printf("\ntensors, the worst first:\n");
  printTable(rows);
}

void Comparison::printJson() const {
  JsonWriter json;
  json.begin('{')
      .member("samples", samples->count())
      .member("precision", precisionOf(model.get()));
  auto write = [&](const std::string &name, const Difference &difference) {
    json.line()
        .begin('{')
        .member("name", name)
        .member("relative_error", difference.relative())
        .member("cosine", difference.cosine())
        .member("largest_error", difference.largest);
  };
  json.begin("outputs", '[');
  for (const OutputDifference &output : outputs) {
    write(output.name, output.difference);
    if (output.rows > 0)
      json.member("same_largest", output.agreeing / output.rows);
    json.end('}');
  }
  json.end(']');
  if (options.perLayer) {
    json.begin("tensors", '[');
    for (const Inner &layer : layers) {
      write(layer.name, layer.difference);
      json.end('}');
    }
    json.end(']');
  }
  if (options.sensitivity)
    writeSensitivity(probe, sensitivity, json);
  printf("%s\n", json.end('}').str().c_str());
}

int Comparison::run() {
  samples = std::make_unique<Samples>(options.preprocess);
  std::string problem = samples->open(options.data);
  if (!problem.empty())
    return progress.fail(problem);
  if (int code = prepare())
    return code;
  for (const std::string &name : outputNames(model.get()))
    outputs.push_back({name, {}});
  survey = SampleSurvey(outputs.size());
  samples->setInputs(inputsOf(model.get()));
  problem = runAll();
  if (!problem.empty())
    return progress.fail(problem);
  if (options.sensitivity)
    if (int code = findSensitivity())
      return code;
  options.json ? printJson() : print();
  return exitSuccess;
}

int ingot::compareMain(int argc, char **argv) {
  Options options;
  OptionParser parser(
      "compare", "MODEL.so MODEL.onnx --data DATA [options]",
      "Runs a compiled model and its ONNX file in fp32 on samples, and tells "
      "how far their outputs are apart.",
      "ingot compare resnet50.so resnet50.onnx --data pictures/ --per-layer");
  parser.optionalArgument(options.model);
  parser.list("data", "PATH", options.data,
              ".npz or .npy files, pictures, or a folder of them");
  addPreprocessOption(parser, options.preprocess);
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
  parser.list("shape", "NAME=AxB...", options.shapes,
              "shape of an input, as the model was compiled with");
  parser.list("dim", "NAME=N", options.dims, "size of a named dimension");
  parser.number("threads", "N", options.threads, 1, 1024,
                "threads to use (default: the CPUs this process may use)");
  parser.flag("json", options.json, "print one JSON object");
  int exitCode = 0;
  if (!parser.parse(argc, argv, options.artifact, exitCode))
    return exitCode;
  if (options.model.empty())
    return parser.usageError("no model.onnx is given");
  if (options.data.empty())
    return parser.usageError("--data is missing: files or a folder of samples");
  for (auto [name, isGiven] :
       {std::pair("--calibration", !options.calibration.empty()),
        std::pair("--keep", !options.keep.empty()),
        std::pair("--rules", !options.rules.empty())})
    if (isGiven && !options.isByLayer())
      return parser.usageError(std::string(name) +
                               " is for --per-layer and --sensitivity");
  if (options.numSamples && !options.sensitivity)
    return parser.usageError("--samples is for --sensitivity");
  if (!options.numSamples)
    options.numSamples = kUsualSamples;
  return Comparison(options, parser).run();
}
