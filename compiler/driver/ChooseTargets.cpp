//===- ChooseTargets.cpp - levels and pipelines of a compilation ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"
#include "compiler/pipeline/Backends.h"

using namespace mlir;
using namespace ingot;

static std::vector<std::string> levelsOf(ArrayRef<Target> targets) {
  std::vector<std::string> levels;
  for (const Target &target : targets)
    levels.push_back(target.level);
  return levels;
}

/// Reads --target, because passes of the pipeline depend on the level. Only a
/// shared library holds code for several levels.
LogicalResult Compilation::chooseTargets() {
  std::string error;
  std::optional<Targets> found = parseTargets(options.target, error);
  if (!found)
    return fail(error);
  asked = std::move(*found);
  targets = asked.sure;
  if (asked.host)
    targets.push_back(*asked.host);
  pipeline.levels = levelsOf(asked.sure);
  pipeline.mayLevels = levelsOf(asked.may);
  auto numbers = targets.front().numbers.texts();
  pipeline.numbers.assign(numbers.begin(), numbers.end());
  if (failed(choosePipelines()))
    return failure();
  checkBF16();
  checkF16Sums();
  if (!options.pipeline.emulateOn.empty() &&
      !emulate(targets, options.pipeline.emulateOn, error))
    return fail(error);
  const Phase *last = findPhase(options.lastPhase);
  bool dependsOnLevel = options.emit == EmitKind::mlir
                            ? last && last->dependsOnLevel
                            : options.emit != EmitKind::sharedLibrary;
  if (targets.size() > 1 && dependsOnLevel)
    return fail("only a shared library holds code for several CPU levels",
                "name one of them with --target, e.g. --target=" +
                    targets.back().level);
  return success();
}

/// Checks that a level of --target multiplies tf32, if that is the precision.
LogicalResult Compilation::checkTF32() {
  if (pipeline.precision != Precision::tf32)
    return success();
  const Device *able = nullptr;
  for (const Backend *backend : getBackends()) {
    if (!backend->multipliesTF32())
      continue;
    able = &backend->device();
    if (asked.host && *asked.host->device == *able)
      return success();
  }
  assert(able && "--precision=tf32 without a backend for it");
  return fail("only " + able->title + " multiply tf32",
              "add a level of " + able->title +
                  " to --target, e.g. --target=" + able->name);
}

/// Sets the pipelines for CPUs and for another device.
LogicalResult Compilation::choosePipelines() {
  if (failed(checkTF32()))
    return failure();
  if (!asked.host)
    return success();
  const Device &device = *asked.host->device;
  SmallVector<const Backend *> backends = getBackends(device);
  if ((pipeline.quantization != Quantization::none ||
       !pipeline.calibration.empty()) &&
      llvm::none_of(backends, [](const Backend *backend) {
        return backend->takesQuantized();
      }))
    return fail("code for " + device.title +
                    " computes in float32, float16 and bfloat16 only",
                "use --precision=fp32, tf32, fp16 or bf16, without "
                "--calibration");
  devicePipeline = pipeline;
  devicePipeline.kernels = backends.front()->name().str();
  devicePipeline.preferred.clear();
  devicePipeline.preferredNodes.clear();
  devicePipeline.levels = levelsOf(*asked.host);
  devicePipeline.mayLevels.clear();
  devicePipeline.deviceLevels = asked.deviceLevels;
  if (asked.sure.empty())
    pipeline = devicePipeline;
  else if (pipeline.precision == Precision::tf32)
    pipeline.precision = Precision::fp32;
  return success();
}

/// Warns if bf16 products are computed in f32, because f32 is faster than bf16
/// without bf16 instructions. Weights then become f16, which has the same size
/// and is more exact. All other values are f32.
void Compilation::checkBF16() {
  if (pipeline.precision == Precision::bf16 && !asked.sure.empty() &&
      !asked.any([](const TargetInfo &info) { return info.multipliesBF16(); }))
    emitRemark(UnknownLoc::get(&context))
        << "products in bf16 are computed in float32 with weights in float16: "
           "no level of --target has instructions for bf16";
}

/// Warns if fp16 products are not computed in f16. Also drops a calibration,
/// because it then has no effect. The types between products are equal for all
/// levels, so every level needs f16 arithmetic.
void Compilation::checkF16Sums() {
  auto lacksFP16 = [](const Target &target) { return !target.info().hasFP16; };
  if (pipeline.precision != Precision::fp16)
    return;
  auto lacking = llvm::find_if(asked.sure, lacksFP16);
  if (lacking == asked.sure.end())
    return;
  if (!pipeline.calibration.empty()) {
    emitWarning(UnknownLoc::get(&context))
        << "--calibration has no effect, because only weights are stored as "
           "float16: "
        << lacking->level << " has no arithmetic on it";
    pipeline.calibration.clear();
  }
  if (!llvm::all_of(asked.sure, lacksFP16))
    emitRemark(UnknownLoc::get(&context))
        << "float16 weights are multiplied as float32: " << lacking->level
        << " has no arithmetic on float16";
}

/// Reads the manifest of the model for the other device, and adds its weights
/// and layers behind those of the model for CPUs.
LogicalResult Compilation::describeDevice(StringRef symbol) {
  if (!deviceModule)
    return success();
  FailureOr<Manifest> read = readManifest(*deviceModule, targets, symbol);
  if (failed(read))
    return failure();
  deviceManifest = std::move(*read);
  devicePipeline.firstLayer = manifest.layers.size();
  llvm::append_range(manifest.layers, deviceManifest.layers);
  devicePipeline.weightsOffset = appendWeights(*module, *deviceModule);
  manifest.weightsBytes =
      devicePipeline.weightsOffset + deviceManifest.weightsBytes;
  return success();
}
