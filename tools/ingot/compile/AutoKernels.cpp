//===- AutoKernels.cpp - kernels chosen by measurement --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/AutoKernels.h"

#include "base/InputFile.h"
#include "base/ScratchFolder.h"
#include "compiler/driver/OutputFiles.h"
#include "compiler/Version.h"
#include "compiler/target/Target.h"
#include "tools/ingot/bench/Bench.h"
#include "tools/ingot/bench/Distribution.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;
using tools::BenchOptions;
using tools::BenchResult;
using tools::LayerResult;

/// oneDNN, which needs a library and milliseconds to load, must be this much
/// faster; also, what measuring cannot tell apart stays native.
static constexpr double kLeastGain = 1.05;
/// Times that each artifact is measured, in turns.
static constexpr int kRounds = 3;
static constexpr const char *kVersionKey = "ingot_kernels";

namespace {

/// An artifact made to be measured.
struct Variant {
  std::string path;
  double latencyMs = std::numeric_limits<double>::infinity();
  /// Their least median times.
  std::vector<LayerResult> layers;
};

/// Layers of both variants that compute the same nodes.
struct Group {
  std::vector<std::string> nodes;
  double nativeMs = 0, onednnMs = 0;
  bool takesOneDnn() const { return nativeMs > kLeastGain * onednnMs; }
};

class Measurement {
public:
  Measurement(CompileOptions &options, mlir::MLIRContext &context)
      : options(options), context(context) {}

  mlir::LogicalResult run(StringRef file);

private:
  mlir::LogicalResult fail(const Twine &message) {
    return mlir::emitError(mlir::UnknownLoc::get(&context)) << message;
  }
  mlir::LogicalResult compile(Variant &variant, StringRef name,
                              const PipelineOptions &pipeline);
  mlir::LogicalResult checkStart(StringRef file);
  mlir::LogicalResult checkInputs(const Manifest &manifest);
  mlir::LogicalResult measure(ArrayRef<Variant *> variants, bool profile);
  std::vector<Group> groupLayers() const;
  mlir::LogicalResult write(StringRef file, ArrayRef<Group> groups);

  CompileOptions &options;
  mlir::MLIRContext &context;
  ScratchFolder scratch;
  Variant native, onednn, mixed;
  BenchResult machine;
};

} // namespace

mlir::LogicalResult Measurement::compile(Variant &variant, StringRef name,
                                         const PipelineOptions &pipeline) {
  variant.path = scratch.path() + "/" + name.str() + ".so";
  CompileOptions compile = options;
  compile.output = variant.path;
  compile.emit = EmitKind::sharedLibrary;
  compile.weightsInFile = compile.writeHeader = false;
  compile.dumpAfter.clear();
  compile.pipeline = pipeline;
  if (options.progress)
    compile.progress = [&](StringRef step) {
      options.progress((name + " kernels: " + step).str());
    };
  mlir::FailureOr<CompileResult> compiled = compileModel(compile, context);
  return failed(compiled) ? mlir::failure() : checkInputs(*compiled->manifest);
}

static void keepLeast(std::vector<LayerResult> &least,
                      const std::vector<LayerResult> &now) {
  if (least.empty()) {
    least = now;
    return;
  }
  for (auto [kept, layer] : zip_equal(least, now))
    kept.medianMs = std::min(kept.medianMs, layer.medianMs);
}

/// What is measured has a size.
mlir::LogicalResult Measurement::checkInputs(const Manifest &manifest) {
  for (const Tensor &input : manifest.inputs)
    if (!input.isStatic())
      return fail("--kernels=auto measures the model, but the shape of input '" +
                  input.name + "' is not fixed: give --shape or --dim");
  return mlir::success();
}

mlir::LogicalResult Measurement::measure(ArrayRef<Variant *> variants,
                                         bool profile) {
  BenchOptions bench;
  bench.warmUpMs = 100;
  bench.durationMs = 300;
  bench.layerTimes = profile;
  for (int round = 0; round < kRounds; ++round)
    for (Variant *variant : variants) {
      if (options.progress)
        options.progress("measuring, round " + std::to_string(round + 1) +
                         " of " + std::to_string(kRounds));
      bench.model = variant->path;
      BenchResult result;
      std::string problem = measureModel(bench, result);
      if (!problem.empty())
        return fail("--kernels=auto measures the model, but " + problem);
      variant->latencyMs =
          std::min(variant->latencyMs,
                   tools::Distribution(result.latencies()).median());
      if (profile)
        keepLeast(variant->layers, result.layers);
      machine = std::move(result);
    }
  return mlir::success();
}

/// Fused differently, layers of the two variants have other nodes in common: all
/// that are connected are compared together.
std::vector<Group> Measurement::groupLayers() const {
  EquivalenceClasses<StringRef> classes;
  for (const Variant *variant : {&native, &onednn})
    for (const LayerResult &layer : variant->layers)
      for (const std::string &node : layer.nodes)
        classes.unionSets(layer.nodes.front(), node);
  MapVector<StringRef, Group> groups;
  auto add = [&](const Variant &variant, double Group::*time) {
    for (const LayerResult &layer : variant.layers)
      if (!layer.nodes.empty())
        groups[classes.getLeaderValue(layer.nodes.front())].*time +=
            layer.medianMs;
  };
  add(native, &Group::nativeMs);
  add(onednn, &Group::onednnMs);
  std::vector<Group> result;
  for (auto &[leader, group] : groups) {
    for (StringRef node : classes.members(leader))
      group.nodes.push_back(node.str());
    llvm::sort(group.nodes);
    result.push_back(std::move(group));
  }
  return result;
}

static StringRef nameOf(Kernels kernels) {
  return kernels == Kernels::native   ? "native"
         : kernels == Kernels::onednn ? "onednn"
                                      : "mixed";
}

mlir::LogicalResult Measurement::write(StringRef file, ArrayRef<Group> groups) {
  json::Object latency{{"native", native.latencyMs},
                       {"onednn", onednn.latencyMs}};
  if (!mixed.path.empty())
    latency["mixed"] = mixed.latencyMs;
  Kernels all = options.pipeline.kernels;
  auto kernelsOf = [&](const Group &group) {
    bool isOneDnn = all == Kernels::mixed ? group.takesOneDnn()
                                          : all == Kernels::onednn;
    return nameOf(isOneDnn ? Kernels::onednn : Kernels::native);
  };
  json::Array layers;
  for (const Group &group : groups)
    layers.push_back(json::Object{
        {"kernels", kernelsOf(group)},
        {"native_ms", group.nativeMs},
        {"onednn_ms", group.onednnMs},
        {"nodes", json::Array(group.nodes)}});
  json::Object root{{kVersionKey, 1},
                    {"compiler", "ingot " INGOT_VERSION},
                    {"target", machine.target},
                    {"cpu", machine.cpu},
                    {"threads", int64_t(machine.threads)},
                    {"latency_ms", std::move(latency)},
                    {"kernels", nameOf(all)},
                    {"layers", std::move(layers)}};
  OutputFiles files(context, file);
  mlir::FailureOr<int> written = files.write([&](raw_ostream &out) {
    out << formatv("{0:2}", json::Value(std::move(root))) << '\n';
    return mlir::success();
  });
  return failed(written) ? mlir::failure()
                         : files.publish({{*written, sys::path::filename(file).str()}});
}

/// That nothing stands in the way of the measurement is known before it.
mlir::LogicalResult Measurement::checkStart(StringRef file) {
  if (sys::fs::is_directory(file))
    return fail("cannot write '" + file + "': it is a directory");
  if (sys::fs::equivalent(file, options.input))
    return fail("cannot write '" + file + "': it is the model itself");
  std::string error;
  auto targets = parseTargets(options.target, error),
       native = parseTargets("native", error);
  if (!targets || !native)
    return fail(error);
  const ingot::Target &lowest = targets->front(), &here = native->front();
  if (lowest.features & ~here.features)
    return fail("--kernels=auto measures the model on this machine (" +
                here.level + "), which cannot run code for " + lowest.level +
                "; measure on one that can and give --kernels its file here");
  return mlir::success();
}

mlir::LogicalResult Measurement::run(StringRef file) {
  if (failed(checkOutputs(options, context)) || failed(checkStart(file)))
    return mlir::failure();
  if (std::string problem = scratch.create(); !problem.empty())
    return fail("--kernels=auto measures the model, but " + problem);
  PipelineOptions pipeline = options.pipeline;
  pipeline.kernels = Kernels::native;
  if (failed(compile(native, "native", pipeline)))
    return mlir::failure();
  pipeline.kernels = Kernels::onednn;
  if (failed(compile(onednn, "oneDNN", pipeline)) ||
      failed(measure({&native, &onednn}, /*profile=*/true)))
    return mlir::failure();
  std::vector<Group> groups = groupLayers();

  PipelineOptions chosen = options.pipeline;
  chosen.kernels = Kernels::mixed;
  for (const Group &group : groups)
    if (group.takesOneDnn())
      chosen.onednnNodes.insert(chosen.onednnNodes.end(), group.nodes.begin(),
                                group.nodes.end());
  // Layers by themselves do not tell what two kinds of threads do to each other.
  if (!chosen.onednnNodes.empty() &&
      (failed(compile(mixed, "mixed", chosen)) ||
       failed(measure({&native, &onednn, &mixed}, /*profile=*/false))))
    return mlir::failure();
  if (native.latencyMs <=
      kLeastGain * std::min(onednn.latencyMs, mixed.latencyMs))
    chosen.kernels = Kernels::native;
  else if (onednn.latencyMs <= mixed.latencyMs)
    chosen.kernels = Kernels::onednn;
  if (chosen.kernels != Kernels::mixed)
    chosen.onednnNodes.clear();
  options.pipeline = std::move(chosen);
  return write(file, groups);
}

mlir::LogicalResult ingot::measureKernels(CompileOptions &options,
                                          StringRef file,
                                          mlir::MLIRContext &context) {
  return Measurement(options, context).run(file);
}

/// What a file holds, or what is wrong with it.
static Expected<PipelineOptions> parseKernels(StringRef text,
                                              PipelineOptions pipeline) {
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed)
    return parsed.takeError();
  auto wrong = [](const Twine &what) {
    return createStringError(std::make_error_code(std::errc::invalid_argument), what);
  };
  const json::Object *root = parsed->getAsObject();
  if (!root || root->getInteger(kVersionKey) != 1)
    return wrong("it is not a file of --kernels=auto of this version");
  std::optional<StringRef> kernels = root->getString("kernels");
  pipeline.onednnNodes.clear();
  if (kernels == "native")
    pipeline.kernels = Kernels::native;
  else if (kernels == "onednn")
    pipeline.kernels = Kernels::onednn;
  else if (kernels == "mixed")
    pipeline.kernels = Kernels::mixed;
  else
    return wrong("\"kernels\" is none of native, onednn, mixed");
  if (pipeline.kernels != Kernels::mixed)
    return pipeline;
  const json::Array *layers = root->getArray("layers");
  if (!layers)
    return wrong("\"layers\" is missing");
  for (const json::Value &value : *layers) {
    const json::Object *layer = value.getAsObject();
    const json::Array *nodes = layer ? layer->getArray("nodes") : nullptr;
    if (!nodes || !layer->getString("kernels"))
      return wrong("a layer lacks \"nodes\" or \"kernels\"");
    if (layer->getString("kernels") != "onednn")
      continue;
    for (const json::Value &node : *nodes) {
      if (!node.getAsString())
        return wrong("the name of a node is no string");
      pipeline.onednnNodes.push_back(node.getAsString()->str());
    }
  }
  return pipeline;
}

std::string ingot::readKernels(StringRef file, PipelineOptions &pipeline) {
  std::string text;
  constexpr uint64_t mostBytes = 256 << 20;
  std::string problem = readWholeFile(file.str(), mostBytes, text);
  if (!problem.empty())
    return "cannot read '" + file.str() + "': " + problem;
  Expected<PipelineOptions> read = parseKernels(text, pipeline);
  if (!read)
    return "'" + file.str() + "': " + toString(read.takeError());
  pipeline = std::move(*read);
  return "";
}
