//===- TextOptions.cpp - phases as pipelines in text ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Pipeline.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace ingot;

namespace {

/// PipelineOptions as text, e.g. `--ingot-linalg="precision=bf16"`.
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<std::string> kernels{*this, "kernels",
                              llvm::cl::desc("The backend asked for heavy ops"),
                              llvm::cl::init(kDefaultKernels.str())};
  Option<std::string> preferred{
      *this, "preferred",
      llvm::cl::desc("The backend asked first for preferred-nodes")};
  ListOption<std::string> preferredNodes{
      *this, "preferred-nodes",
      llvm::cl::desc("ONNX nodes that the preferred backend is asked for")};
  Option<Precision> precision{
      *this, "precision", llvm::cl::desc("What heavy ops multiply"),
      llvm::cl::init(Precision::fp32),
      llvm::cl::values(clEnumValN(Precision::fp32, "fp32", "32-bit floats"),
                       clEnumValN(Precision::bf16, "bf16", "bfloat16"),
                       clEnumValN(Precision::fp16, "fp16",
                                  "float32 by weights of float16"))};
  Option<int> precisionLevel{
      *this, "precision-level",
      llvm::cl::desc("What else is stored so: 1, 2 or 3"),
      llvm::cl::init(1)};
  Option<bool> observe{
      *this, "observe",
      llvm::cl::desc("Show the tensors that int8 wants ranges of in a run"),
      llvm::cl::init(false)};
  Option<bool> switches{
      *this, "switches",
      llvm::cl::desc("Let a run say what is rounded as int8 rounds it"),
      llvm::cl::init(false)};
  Option<bool> errors{
      *this, "errors",
      llvm::cl::desc("Show how much products in bytes are too large in a run"),
      llvm::cl::init(false)};
  Option<bool> observeChannels{
      *this, "observe-channels",
      llvm::cl::desc("Show how large channels of what products read are"),
      llvm::cl::init(false)};
  Option<bool> observeGrams{
      *this, "observe-grams",
      llvm::cl::desc("Show what weights are multiplied by in a run"),
      llvm::cl::init(false)};
  Option<std::string> repairs{
      *this, "repairs",
      llvm::cl::desc("File of ingot calibrate: repairs of a model that is not "
                     "quantized by it")};
  Option<std::string> calibration{
      *this, "calibration",
      llvm::cl::desc("File of ingot calibrate: what is quantized")};
  Option<Quantization> quantization{
      *this, "quantization",
      llvm::cl::desc("What is quantized without a calibration"),
      llvm::cl::init(Quantization::none),
      llvm::cl::values(
          clEnumValN(Quantization::none, "none", "nothing"),
          clEnumValN(Quantization::int8Dynamic, "int8-dynamic",
                     "weights, and data by the range it has in a run"),
          clEnumValN(Quantization::w8, "w8", "weights of products, to bytes"),
          clEnumValN(Quantization::w4, "w4", "the same, to 4 bits"))};
  Option<int> weightBits{
      *this, "weight-bits", llvm::cl::desc("Of int8: 7 or 8"),
      llvm::cl::init(8)};
  Option<bool> fitPairs{
      *this, "fit-pairs",
      llvm::cl::desc("Whether their scales may be larger where all CPU levels "
                     "multiply bytes as words"),
      llvm::cl::init(false)};
  ListOption<std::string> keep{
      *this, "keep",
      llvm::cl::desc("Nodes that are not quantized: GLOB=fp32")};
  ListOption<std::string> keepFromInt8{
      *this, "keep-from-int8",
      llvm::cl::desc("Of int8 beside bf16: the nodes that are not quantized, "
                     "where keep is for bf16")};
  Option<bool> winograd{
      *this, "winograd",
      llvm::cl::desc("Whether 3x3 convolutions may take fewer products"),
      llvm::cl::init(true)};
  Option<OptimizeFor> optimize{
      *this, "optimize",
      llvm::cl::desc("How much speed a byte that is added must bring"),
      llvm::cl::init(OptimizeFor::balanced), optimizeForValues()};
  Option<std::string> emulateOn{
      *this, "emulate-on",
      llvm::cl::desc("CPU level whose instructions are enough")};
  Option<uint64_t> scheduleSeed{
      *this, "schedule-seed",
      llvm::cl::desc("Draw schedules at random, if it is not 0"),
      llvm::cl::init(0)};
  ListOption<std::string> levels{
      *this, "levels",
      llvm::cl::desc("CPU levels of the artifact; the module's, if there are "
                     "none")};
  ListOption<std::string> mayLevels{
      *this, "may-levels",
      llvm::cl::desc("Levels that get code if the model multiplies elements "
                     "that they multiply faster")};
  Option<std::string> level{
      *this, "level",
      llvm::cl::desc("CPU level of the phases that depend on it; the "
                     "module's, if there is none")};
  ListOption<std::string> numbers{
      *this, "numbers",
      llvm::cl::desc("Numbers of all levels that are not as usual: l2=2M")};

  PipelineOptions get() const {
    PipelineOptions options;
    options.kernels = kernels;
    options.preferred = preferred;
    options.preferredNodes.assign(preferredNodes.begin(), preferredNodes.end());
    options.precision = precision;
    options.precisionLevel = precisionLevel;
    options.observe = observe;
    options.switches = switches;
    options.errors = errors;
    options.observeChannels = observeChannels;
    options.observeGrams = observeGrams;
    options.repairs = repairs;
    options.calibration = calibration;
    options.quantization = quantization;
    options.weightBits = weightBits;
    options.fitPairs = fitPairs;
    options.keep.assign(keep.begin(), keep.end());
    options.keepFromInt8.assign(keepFromInt8.begin(), keepFromInt8.end());
    options.winograd = winograd;
    options.optimize = optimize;
    options.emulateOn = emulateOn;
    options.scheduleSeed = scheduleSeed;
    options.levels.assign(levels.begin(), levels.end());
    options.mayLevels.assign(mayLevels.begin(), mayLevels.end());
    options.level = level;
    options.numbers.assign(numbers.begin(), numbers.end());
    return options;
  }
};

} // namespace

void ingot::registerPipelines() {
  for (const Phase &phase : getPhases())
    PassPipelineRegistration<TextOptions>(
        std::string("ingot-") + phase.name, phase.description,
        [&phase](OpPassManager &passes, const TextOptions &options) {
          phase.build(passes, options.get());
        });
}
