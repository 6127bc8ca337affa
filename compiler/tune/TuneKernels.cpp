//===- TuneKernels.cpp - kernels chosen by measurement --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/tune/TuneKernels.h"

#include "base/ScratchFolder.h"
#include "compiler/target/Target.h"
#include "compiler/tune/KernelRecord.h"

#include "mlir/IR/Diagnostics.h"

#include <limits>

using namespace llvm;
using namespace ingot;

/// Number of measurements per artifact, in turns.
static constexpr int kRounds = 3;

/// The share of the progress for one compilation with its measurement. There
/// are at most three of them.
static constexpr double kCompileShare = 1.0 / 3;

namespace {

/// An artifact that is made for a measurement.
struct Variant {
  std::string path;
  /// The smallest median of all rounds.
  double latencyMs = std::numeric_limits<double>::infinity();
  std::vector<LayerTime> layers;
};

class Tuning {
public:
  Tuning(CompileOptions &options, MeasureArtifact measure,
         mlir::MLIRContext &context)
      : options(options), measureArtifact(measure), context(context) {}

  mlir::LogicalResult run();

  KernelRecord record;

private:
  mlir::LogicalResult fail(const Twine &message) {
    return mlir::emitError(mlir::UnknownLoc::get(&context)) << message;
  }
  mlir::LogicalResult compile(Variant &variant, StringRef name,
                              const PipelineOptions &pipeline);
  mlir::LogicalResult checkMachine();
  mlir::LogicalResult checkInputs(const Manifest &manifest);
  mlir::LogicalResult measure(ArrayRef<Variant *> variants, bool withLayers);

  CompileOptions &options;
  MeasureArtifact measureArtifact;
  mlir::MLIRContext &context;
  ScratchFolder scratch;
  Variant native, other, mixed;
  int numCompiled = 0;
};

} // namespace

mlir::LogicalResult Tuning::compile(Variant &variant, StringRef name,
                                    const PipelineOptions &pipeline) {
  variant.path = scratch.path() + "/" + name.str() + ".so";
  CompileOptions compile = options;
  compile.output = variant.path;
  compile.emit = EmitKind::sharedLibrary;
  compile.weightsInFile = compile.writeHeader = false;
  compile.recordFile.clear();
  compile.decisionsFile.clear();
  compile.dumpAfter.clear();
  compile.pipeline = pipeline;
  const double start = numCompiled++ * kCompileShare;
  compile.progress = options.progress.part(start, start + kCompileShare);
  if (compile.progress.onStep)
    compile.progress.onStep = [tell = compile.progress.onStep,
                               name = name.str()](const std::string &step,
                                                  double fraction) {
      tell(name + " kernels: " + step, fraction);
    };
  mlir::FailureOr<CompileResult> compiled = compileModel(compile, context);
  return failed(compiled) ? mlir::failure() : checkInputs(*compiled->manifest);
}

/// Checks that each input has a size for the measurement: a fixed size or a
/// usual size.
mlir::LogicalResult Tuning::checkInputs(const Manifest &manifest) {
  for (const Tensor &input : manifest.bodies.empty()
                                 ? manifest.inputs
                                 : manifest.bodies.front().inputs)
    if (!input.isStatic())
      return fail(
          "--kernels=auto measures the model, but the shape of input '" +
          input.name + "' is not fixed: give --shape or --dim");
  return mlir::success();
}

static void keepLeast(std::vector<LayerTime> &least,
                      std::vector<LayerTime> &now) {
  if (least.empty())
    least.swap(now);
  else
    for (auto [kept, layer] : zip_equal(least, now))
      kept.ms = std::min(kept.ms, layer.ms);
}

mlir::LogicalResult Tuning::measure(ArrayRef<Variant *> variants,
                                    bool withLayers) {
  for (int round = 0; round < kRounds; ++round)
    for (Variant *variant : variants) {
      if (options.progress.cancelled())
        return fail(kCancelled);
      options.progress.step("measuring, round " + std::to_string(round + 1) +
                                " of " + std::to_string(kRounds),
                            numCompiled * kCompileShare);
      ArtifactTimes times;
      std::string problem = measureArtifact(variant->path, withLayers, times);
      if (!problem.empty())
        return fail("--kernels=auto measures the model, but " + problem);
      variant->latencyMs = std::min(variant->latencyMs, times.latencyMs);
      if (withLayers)
        keepLeast(variant->layers, times.layers);
      record.target = std::move(times.target);
      record.cpu = std::move(times.cpu);
      record.threads = times.threads;
    }
  return mlir::success();
}

/// Checks that this machine can measure. Called first, so that a problem is
/// reported before any work.
mlir::LogicalResult Tuning::checkMachine() {
  std::string error;
  auto targets = parseTargets(options.target, error),
       native = parseTargets("native", error);
  if (!targets || !native)
    return fail(error);
  if (targets->host)
    return fail("--kernels=auto measures code for CPUs only; leave levels of " +
                targets->host->device->title + " out of --target");
  const ingot::Target &lowest = targets->sure.front(),
                      &here = native->sure.front();
  if (lowest.features & ~here.features)
    return fail("--kernels=auto measures the model on this machine (" +
                here.level + "), which cannot run code for " + lowest.level +
                "; measure on one that can and give --kernels its file here");
  return mlir::success();
}

mlir::LogicalResult Tuning::run() {
  if (failed(checkOutputs(options, context)) || failed(checkMachine()))
    return mlir::failure();
  if (std::string problem = scratch.create(); !problem.empty())
    return fail("--kernels=auto measures the model, but " + problem);
  PipelineOptions pipeline = options.pipeline;
  pipeline.kernels = kDefaultKernels.str();
  if (failed(compile(native, "native", pipeline)))
    return mlir::failure();
  pipeline.kernels = otherBackend().name().str();
  if (failed(compile(other, otherBackend().title(), pipeline)) ||
      failed(measure({&native, &other}, /*withLayers=*/true)))
    return mlir::failure();

  record.layers = chooseForLayers(native.layers, other.layers);
  record.kernels = Kernels::mixed;
  record.applyTo(pipeline);
  if (!pipeline.preferredNodes.empty()) {
    if (failed(compile(mixed, "mixed", pipeline)) ||
        failed(measure({&native, &other, &mixed}, /*withLayers=*/false)))
      return mlir::failure();
    record.mixedMs = mixed.latencyMs;
  }
  record.nativeMs = native.latencyMs;
  record.otherMs = other.latencyMs;
  record.kernels =
      chooseForModel(native.latencyMs, other.latencyMs, mixed.latencyMs);
  record.applyTo(options.pipeline);
  options.record = record.toJson();
  return mlir::success();
}

mlir::FailureOr<KernelRecord>
ingot::tuneKernels(CompileOptions &options, StringRef file,
                   MeasureArtifact measure, mlir::MLIRContext &context) {
  options.recordFile = file.str();
  Tuning tuning(options, measure, context);
  if (failed(tuning.run()))
    return mlir::failure();
  return std::move(tuning.record);
}
