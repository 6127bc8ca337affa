//===- Calibrate.cpp - ingot calibrate ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"
#include "base/ScratchFolder.h"
#include "base/SystemFailures.h"
#include "compiler/driver/Compiler.h"
#include "compiler/quantize/ModelHash.h"
#include "compiler/quantize/Ranges.h"
#include "passes/quantize/CalibrationFile.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Handles.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/calibrate/Samples.h"
#include "tools/ingot/calibrate/Watch.h"
#include "tools/ingot/compile/Messages.h"
#include "tools/ingot/compile/ShapeOption.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <stdlib.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::tools;
using llvm::StringRef;

static constexpr uint64_t kFewSamples = 10;

namespace {

enum class Method { minMax, movingAverage, percentile, mse, entropy };

constexpr std::pair<const char *, Method> kMethods[] = {
    {"minmax", Method::minMax},
    {"moving-average", Method::movingAverage},
    {"percentile", Method::percentile},
    {"mse", Method::mse},
    {"entropy", Method::entropy}};

struct Options {
  std::string model, output, methodName = "entropy", preprocess;
  std::vector<std::string> data, shapes, dims;
  unsigned threads = 0;
  Method method = Method::entropy;
  double percentile = 99.999;
};

/// One calibration: compile, run, find ranges, write.
class Calibration {
public:
  Calibration(const Options &options, const OptionParser &parser)
      : options(options), parser(parser),
        isTerminal(isatty(STDERR_FILENO)) {}

  int run();

private:
  int fail(const std::string &message) {
    clearProgress();
    return parser.failure(message);
  }
  void warn(const std::string &message) {
    clearProgress();
    fprintf(stderr, "ingot calibrate: warning: %s\n", message.c_str());
  }
  void progress(const std::string &text) {
    if (isTerminal)
      fprintf(stderr, "\r\033[K%s …", text.c_str());
  }
  void clearProgress() {
    if (isTerminal)
      fputs("\r\033[K", stderr);
  }

  std::string checkOutput();
  int compile();
  std::string load();
  std::string runAll();
  std::string runOne(Watch &watch, const std::vector<Array> &inputs);
  quantize::Range rangeOf(const WatchedTensor &tensor) const;
  void findRanges(const Watch &watch);
  std::string write();

  const Options &options;
  const OptionParser &parser;
  const bool isTerminal;
  ScratchFolder scratch;
  std::string library;
  std::vector<std::string> names;
  PoolHandle pool;
  ModelHandle model;
  ContextHandle context;
  std::unique_ptr<Samples> samples;
  std::vector<Array> outputs;
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

int Calibration::compile() {
  CompileOptions compile;
  compile.input = options.model;
  library = scratch.path() + "/calibrate.so";
  compile.output = library;
  compile.writeHeader = false;
  compile.pipeline.observe = true;
  std::string error;
  for (const std::string &text : options.shapes)
    if (!parseShape(text, compile.import.shapes, error))
      return parser.usageError(error);
  for (const std::string &text : options.dims)
    if (!parseDim(text, compile.import.dims, error))
      return parser.usageError(error);
  compile.progress = [this](StringRef step) {
    nameStep(step.str().c_str());
    progress(step.str());
  };
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  context->getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    clearProgress();
    printDiagnostic(diagnostic, options.model, "calibrate");
    return mlir::success();
  });
  mlir::FailureOr<CompileResult> compiled = compileModel(compile, *context);
  clearProgress();
  if (failed(compiled))
    return exitFailure;
  names = compiled->manifest->observed;
  return exitSuccess;
}

std::string Calibration::load() {
  std::string problem = createPool(options.threads, pool);
  if (problem.empty())
    problem = loadModel(library, "", pool.get(), model);
  if (problem.empty())
    problem = createContext(model.get(), pool.get(), context);
  return problem;
}

static std::vector<InputSpec> inputsOf(const ingot_model *model) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<InputSpec> inputs;
  for (uint32_t i = 0; i < info.num_inputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_input_describe(model, i, &tensor, nullptr);
    inputs.push_back(
        {tensor.name, tensor.dtype,
         std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank)});
  }
  return inputs;
}

std::string Calibration::runOne(Watch &watch,
                                const std::vector<Array> &inputs) {
  std::vector<ingot_input> in;
  for (const Array &array : inputs)
    in.push_back(ingot_input_make(array.data.data(), array.data.size(),
                                  array.dims.data(),
                                  uint32_t(array.dims.size()), array.dtype));
  std::vector<ingot_output> out;
  for (Array &array : outputs)
    out.push_back(ingot_output_make(array.data.data(), array.data.size(),
                                    array.dims.data(),
                                    uint32_t(array.dims.size()), array.dtype));
  ingot_run_options run = INGOT_RUN_OPTIONS_INIT;
  run.observe = Watch::observe;
  run.observe_user = &watch;
  ingot_error error = INGOT_ERROR_INIT;
  ingot_status status = ingot_context_run(
      context.get(), in.data(), uint32_t(in.size()), out.data(),
      uint32_t(out.size()), &run, &error);
  if (watch.notFinite() >= 0)
    return "tensor '" + formatLine(names[size_t(watch.notFinite())], 200) +
           "' becomes infinite or not a number on " + samples->where();
  // Nobody wants the outputs: one whose size only the run knows has no room.
  if (status == INGOT_OK || status == INGOT_BUFFER_TOO_SMALL)
    return "";
  return samples->where() + ": " + error.message;
}

std::string Calibration::runAll() {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model.get(), &info, nullptr);
  outputs.resize(info.num_outputs);
  for (uint32_t i = 0; i < info.num_outputs; ++i) {
    ingot_tensor_info tensor = INGOT_TENSOR_INFO_INIT;
    ingot_model_output_describe(model.get(), i, &tensor, nullptr);
    outputs[i].dtype = tensor.dtype;
    outputs[i].dims.assign(tensor.dims, tensor.dims + tensor.rank);
    outputs[i].data.resize(tensor.bytes);
  }
  Watch::Options wanted;
  wanted.averages = options.method == Method::movingAverage;
  wanted.fillsBins = !wanted.averages && options.method != Method::minMax;
  wanted.threads = ingot_context_thread_count(context.get());
  Watch watch(names.size(), wanted);
  std::vector<Array> inputs;
  std::string problem;
  while (samples->next(inputs, problem)) {
    if (samples->numFiles() > 1)
      progress("sample " + std::to_string(samples->count()) + ", file " +
               std::to_string(samples->file() + 1) + " of " +
               std::to_string(samples->numFiles()));
    else
      progress(samples->where());
    problem = runOne(watch, inputs);
    if (!problem.empty())
      return problem;
  }
  if (!problem.empty())
    return problem;
  progress("finding ranges");
  findRanges(watch);
  clearProgress();
  return "";
}

quantize::Range Calibration::rangeOf(const WatchedTensor &tensor) const {
  switch (options.method) {
  case Method::minMax:
    return quantize::minMaxRange(tensor.histogram);
  case Method::movingAverage:
    return {tensor.averageMin, tensor.averageMax};
  case Method::percentile:
    return quantize::percentileRange(tensor.histogram, options.percentile);
  case Method::mse:
    return quantize::mseRange(tensor.histogram);
  case Method::entropy:
    return quantize::entropyRange(tensor.histogram);
  }
  return {};
}

void Calibration::findRanges(const Watch &watch) {
  result.samples = samples->count();
  result.method = options.methodName;
  if (result.samples < kFewSamples)
    warn("there " +
         std::string(result.samples == 1 ? "is 1 sample"
                                         : "are " +
                                               std::to_string(result.samples) +
                                               " samples") +
         ": ranges may be too narrow; 100 to 500 are usual");
  for (size_t i = 0; i < names.size(); ++i) {
    const WatchedTensor tensor = watch.result(i);
    const quantize::Histogram &histogram = tensor.histogram;
    // What no sample computed is left as it is.
    if (!histogram.count())
      continue;
    if (histogram.min() == histogram.max())
      warn("tensor '" + formatLine(names[i], 200) + "' was always " +
           std::to_string(histogram.min()));
    const quantize::Encoding encoding = quantize::encode(rangeOf(tensor));
    result.tensors.push_back({names[i], histogram.min(), histogram.max(),
                              encoding.scale, encoding.zeroPoint});
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
    problem = files.publish(
        {{descriptor, llvm::sys::path::filename(path).str()}});
  return problem.empty() ? ""
                         : "cannot write '" + formatLine(options.output, 200) +
                               "': " + problem;
}

int Calibration::run() {
  Preprocess preprocess;
  if (!options.preprocess.empty())
    if (std::string wrong = preprocess.parse(options.preprocess);
        !wrong.empty())
      return parser.usageError("--preprocess: " + wrong);
  std::string problem = checkOutput();
  if (problem.empty())
    problem = quantize::hashModel(options.model, result.sha256);
  if (!problem.empty())
    return fail(StringRef(problem).starts_with("cannot")
                    ? problem
                    : "cannot read '" + formatLine(options.model, 200) +
                          "': " + problem);
  result.model = llvm::sys::path::filename(options.model).str();
  // Wrong names cost no compilation.
  Samples listed({}, preprocess);
  problem = listed.open(options.data);
  if (problem.empty())
    problem = scratch.create();
  if (!problem.empty())
    return fail(problem);
  if (int code = compile())
    return code;
  if (names.empty())
    return fail("'" + formatLine(options.model, 200) +
                "' has no convolution or matrix product of float32 with "
                "constant weights that could be quantized");
  problem = load();
  if (problem.empty()) {
    samples = std::make_unique<Samples>(inputsOf(model.get()), preprocess);
    problem = samples->open(options.data);
  }
  if (problem.empty())
    problem = runAll();
  if (problem.empty())
    problem = write();
  if (!problem.empty())
    return fail(problem);
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
        for (auto [known, method] : kMethods)
          if (name == known) {
            options.method = method;
            options.methodName = name;
            return "";
          }
        return "must be minmax, moving-average, percentile, mse or entropy";
      },
      "minmax, moving-average, percentile, mse or entropy (the default)");
  parser.custom(
      "percentile", "P",
      [&](const std::string &text) -> std::string {
        char *end = nullptr;
        options.percentile = strtod(text.c_str(), &end);
        bool isRight = !text.empty() && !*end && options.percentile > 50 &&
                       options.percentile <= 100;
        return isRight ? "" : "must be above 50 and at most 100";
      },
      "how much of a tensor lies in its range (default: 99.999)");
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
