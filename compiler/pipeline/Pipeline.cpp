//===- Pipeline.cpp - phases from ONNX to LLVM ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Pipeline.h"

#include "passes/backend/Passes.h"
#include "passes/codegen/common/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/legalize/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/precision/Passes.h"
#include "passes/quantize/Passes.h"
#include "passes/shape/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

/// onnx.node → nn.
static void buildLegalizePipeline(OpPassManager &passes,
                                  const PipelineOptions &options) {
  LegalizeOptions legalize;
  legalize.maxElements = options.maxTensorElements;
  legalize.maxLoopSteps = options.maxLoopSteps;
  passes.addPass(createLegalize(legalize));
  passes.addPass(createRequireSizes());
  passes.addNestedPass<func::FuncOp>(createHoistChecks());
}

static void addFoldConstants(OpPassManager &passes,
                             const PipelineOptions &options) {
  FoldConstantsOptions fold;
  fold.maxBytes = options.maxFoldedBytes;
  passes.addPass(createFoldConstants(fold));
}

/// nn → less nn: what training left is folded and merged.
static void buildGraphPipeline(OpPassManager &passes,
                               const PipelineOptions &options) {
  addFoldConstants(passes, options);
  passes.addPass(createCanonicalize());
  passes.addNestedPass<func::FuncOp>(createCheckIndices());
  passes.addNestedPass<func::FuncOp>(createRefuteChecks());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createPromoteFloats());
  passes.addPass(createSimplify());
  passes.addPass(createRecognizeNorms());
  passes.addPass(createRecognizeActivations());
  passes.addPass(createFoldPad());
  passes.addPass(createFoldBatchNorm());
  passes.addPass(createMergeBranches());
  passes.addPass(createFoldScaleShift());
  passes.addPass(createMergeConvs());
  passes.addPass(createPruneChannels());
  passes.addPass(createCountZeroWeights());
  passes.addPass(createWidenConvTranspose());
  addFoldConstants(passes, options);
  passes.addPass(createSimplify());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

/// nn on floats → nn with quantized values where the user wants them, what
/// stands between these on bytes.
static void buildQuantizePipeline(OpPassManager &passes,
                                  const PipelineOptions &options) {
  const std::vector<std::string> &kept =
      options.keepFromInt8.empty() ? options.keep : options.keepFromInt8;
  if (options.kernels != Kernels::onednn) {
    RecognizeFakeQuantizeOptions recognize;
    recognize.keep.assign(kept.begin(), kept.end());
    passes.addPass(createRecognizeFakeQuantize(recognize));
  }
  if (options.equalize)
    passes.addPass(createEqualizeLayers());
  if (options.observeChannels)
    passes.addPass(createInsertChannelObservers());
  if (!options.channels.empty()) {
    SmoothActivationsOptions smooth;
    smooth.calibration = options.channels;
    passes.addPass(createSmoothActivations(smooth));
  }
  if (options.observeGrams)
    passes.addPass(createInsertGramObservers());
  if (options.observe)
    passes.addPass(createInsertObservers());
  if (options.switches) {
    InsertSwitchesOptions insert;
    insert.errors = options.errors;
    insert.calibration = options.rounding;
    insert.weightBits = options.weightBits;
    insert.fitPairs = options.fitPairs;
    insert.keep.assign(kept.begin(), kept.end());
    passes.addPass(createInsertSwitches(insert));
  }
  const bool isInt8 =
      !options.calibration.empty() && options.precision != Precision::fp16;
  if (options.halfSums && !options.calibration.empty()) {
    ExcludeOverflowOptions exclude;
    exclude.calibration = options.calibration;
    passes.addPass(createExcludeOverflow(exclude));
  }
  if (isInt8) {
    InsertQuantizeOptions insert;
    insert.calibration = options.calibration;
    insert.weightBits = options.weightBits;
    insert.fitPairs = options.fitPairs;
    insert.keep.assign(kept.begin(), kept.end());
    passes.addPass(createInsertQuantize(insert));
  }
  if (!options.biases.empty()) {
    CorrectBiasesOptions correct;
    correct.calibration = options.biases;
    passes.addPass(createCorrectBiases(correct));
  }
  if (isInt8 || options.quantization == Quantization::int8Dynamic) {
    InsertDynamicQuantizeOptions insert;
    insert.innerOnly = options.quantization != Quantization::int8Dynamic;
    insert.weightBits = options.weightBits;
    insert.fitPairs = options.fitPairs;
    insert.keep.assign(kept.begin(), kept.end());
    passes.addPass(createInsertDynamicQuantize(insert));
  }
  if (options.quantization == Quantization::w8 ||
      options.quantization == Quantization::w4) {
    QuantizeWeightsOptions weights;
    weights.bits = options.quantization == Quantization::w8 ? 8 : 4;
    weights.keep.assign(kept.begin(), kept.end());
    passes.addPass(createQuantizeWeights(weights));
  }
  if (isInt8 || options.quantization != Quantization::none) {
    QuantizeTablesOptions tables;
    tables.keep.assign(kept.begin(), kept.end());
    passes.addPass(createQuantizeTables(tables));
  }
  passes.addPass(createPropagateQuantize());
  // Weights that a transpose moved as bytes are constants again.
  addFoldConstants(passes, options);
  // oneDNN is asked for products of f32: those of bytes would be loops.
  if (options.kernels != Kernels::onednn) {
    passes.addPass(createQuantizeProducts());
    passes.addPass(createPadChannels());
    passes.addPass(createQuantizeWords());
    // What is not multiplied as bytes may still be read as such.
    passes.addPass(createPackWeights());
    // The scales of bytes, with what a model scales and shifts behind them.
    passes.addPass(createMergeScaleShifts());
  }
  passes.addPass(createDecomposeQuantize());
  passes.addPass(createFoldRequantize());
  addFoldConstants(passes, options);
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

/// Data channels last inside, transposes at the model's edges.
static void buildLayoutPipeline(OpPassManager &passes,
                                const PipelineOptions &options) {
  passes.addPass(createDropIdentities());
  passes.addPass(createToChannelsLast());
  passes.addPass(createPropagateTransposes());
  // What was normalized over channels now is over the last dimension.
  passes.addPass(createRecognizeNorms());
  addFoldConstants(passes, options);
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

/// The backends that have kernels; the first is asked for every operator.
static ArrayRef<BackendKind> backendsOf(Kernels kernels) {
  static constexpr BackendKind both[] = {BackendKind::native,
                                         BackendKind::onednn};
  switch (kernels) {
  case Kernels::native:
    return ArrayRef(both).take_front();
  case Kernels::onednn:
    return ArrayRef(both).take_back();
  case Kernels::mixed:
    return both;
  }
  llvm_unreachable("unknown kernels");
}

bool ingot::takesPart(BackendKind backend, Kernels kernels) {
  return backend == BackendKind::loops ||
         llvm::is_contained(backendsOf(kernels), backend);
}

/// nn → ops of the backends, on tensors. Up to here all backends see the same.
static void buildLowerPipeline(OpPassManager &passes,
                               const PipelineOptions &options) {
  passes.addPass(createLowerReshapes());
  passes.addNestedPass<func::FuncOp>(createBroadcastBatches());
  AssignBackendsOptions assigned;
  // Of mixed kernels, oneDNN is asked before for the nodes chosen for it.
  assigned.backends.push_back(
      stringifyBackendKind(backendsOf(options.kernels).front()).str());
  assigned.onednnNodes.assign(options.onednnNodes.begin(),
                              options.onednnNodes.end());
  passes.addPass(createAssignBackends(assigned));
  for (const Backend *backend : getBackends())
    if (takesPart(backend->kind(), options.kernels))
      backend->buildLower(passes, options);
}

/// tensors → memrefs at fixed offsets of one arena.
static void buildMemoryPipeline(OpPassManager &passes,
                                const PipelineOptions &) {
  passes.addPass(createPrepareEntry());
  passes.addPass(createCanonicalize());
  passes.addNestedPass<func::FuncOp>(createPlaceState());
  passes.addPass(createReuseOperands());
  passes.addPass(createReuseEpilogueOperands());
  passes.addNestedPass<func::FuncOp>(createHoistChecks());
  passes.addPass(createEliminateEmpties());
  // Which moves ops past checks.
  passes.addNestedPass<func::FuncOp>(createHoistChecks());
  // A tensor that only tells a size is to take no memory.
  passes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  passes.addPass(createBufferize());
  // What is copied to itself is seen when equal views are one.
  passes.addPass(createCSEPass());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
  passes.addPass(createCollectWeights());
  passes.addNestedPass<func::FuncOp>(createPlaceOutputs());
  passes.addPass(createBoundBuffers());
  passes.addPass(createPlanMemory());
  passes.addPass(createOutlineInference());
  passes.addPass(createInstrumentLayers());
  for (const Backend *backend : getBackends())
    backend->buildMemory(passes);
}

/// ops on memrefs → launches of kernels, split into tasks. The first phase that
/// knows the CPU level: tasks are whole register tiles.
static void buildKernelsPipeline(OpPassManager &passes,
                                 const PipelineOptions &options) {
  if (!options.level.empty()) {
    AttachTargetOptions target;
    target.level = options.level;
    target.numbers.assign(options.numbers.begin(), options.numbers.end());
    passes.addPass(createAttachTarget(target));
  }
  for (const Backend *backend : getBackends())
    backend->buildKernels(passes, options);
  passes.addPass(createOutlineRepeats());
}

/// kernels of each backend → code → LLVM dialect.
static void buildCodegenPipeline(OpPassManager &passes,
                                 const PipelineOptions &options) {
  for (const Backend *backend : getBackends())
    backend->buildCodegen(passes, options);
  passes.addPass(createOutlineLoops());
  passes.addPass(createLoadArguments());
  passes.addPass(createCutFunctions());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createGuardDivision());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
  passes.addPass(createLowerControlFlow());
  passes.addPass(createConvertToLLVM());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

static constexpr Phase kPhases[] = {
    {"nn", "ONNX nodes legalized to named tensor ops", buildLegalizePipeline},
    {"graph", "graph simplified, training-time structure removed",
     buildGraphPipeline},
    {"quantize", "values quantized as a calibration says, products of bytes",
     buildQuantizePipeline},
    {"layout", "data channels last, transposes at the edges",
     buildLayoutPipeline},
    {"linalg", "ops lowered to linalg on tensors", buildLowerPipeline},
    {"memory", "tensors placed in the arena", buildMemoryPipeline},
    {"kernels", "kernels outlined and split into tasks", buildKernelsPipeline,
     /*dependsOnLevel=*/true},
    {"llvm", "code in the LLVM dialect", buildCodegenPipeline,
     /*dependsOnLevel=*/true},
};

ArrayRef<Phase> ingot::getPhases() { return kPhases; }

ArrayRef<Phase> ingot::getSharedPhases() {
  return getPhases().take_while(
      [](const Phase &phase) { return !phase.dependsOnLevel; });
}

ArrayRef<Phase> ingot::getLevelPhases() {
  return getPhases().drop_front(getSharedPhases().size());
}

const Phase *ingot::findPhase(StringRef name) {
  auto *at = llvm::find_if(
      kPhases, [&](const Phase &phase) { return name == phase.name; });
  return at == std::end(kPhases) ? nullptr : at;
}

bool ingot::hasPass(StringRef argument, const PipelineOptions &options,
                    MLIRContext &context) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Phase &phase : kPhases) {
    mlir::PassManager passes(&context);
    phase.build(passes, options);
    passes.printAsTextualPipeline(stream);
  }
  // Names stand between (, ), {, } and commas: `a(b{option=x},c)`.
  SmallVector<StringRef> names;
  llvm::SplitString(text, names, "(){},= ");
  return llvm::is_contained(names, argument);
}

std::string ingot::printPipeline(const PipelineOptions &options, StringRef last,
                                 MLIRContext &context) {
  mlir::PassManager passes(&context, ModuleOp::getOperationName());
  for (const Phase &phase : kPhases) {
    phase.build(passes, options);
    if (last == phase.name)
      break;
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  passes.printAsTextualPipeline(stream);
  return text;
}

namespace {

/// PipelineOptions as text: `--ingot-linalg="precision=bf16"`.
struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<Kernels> kernels{
      *this, "kernels", llvm::cl::desc("What computes heavy ops"),
      llvm::cl::init(Kernels::native),
      llvm::cl::values(
          clEnumValN(Kernels::native, "native", "generated kernels"),
          clEnumValN(Kernels::onednn, "onednn", "oneDNN's primitives"),
          clEnumValN(Kernels::mixed, "mixed", "oneDNN for onednn-nodes"))};
  ListOption<std::string> onednnNodes{
      *this, "onednn-nodes",
      llvm::cl::desc("ONNX nodes that oneDNN computes with kernels=mixed")};
  Option<Precision> precision{
      *this, "precision", llvm::cl::desc("What heavy ops multiply"),
      llvm::cl::init(Precision::fp32),
      llvm::cl::values(clEnumValN(Precision::fp32, "fp32", "32-bit floats"),
                       clEnumValN(Precision::bf16, "bf16", "bfloat16"),
                       clEnumValN(Precision::fp16, "fp16",
                                  "float32 by weights of float16"))};
  Option<bool> halfSums{
      *this, "half-sums",
      llvm::cl::desc("Multiply fp16 by fp16, and store it between products"),
      llvm::cl::init(false)};
  Option<bool> halfRest{
      *this, "half-rest",
      llvm::cl::desc("Multiply bf16 where a run computes both factors")};
  Option<bool> amxTiles{
      *this, "amx-tiles",
      llvm::cl::desc("A CPU level multiplies bytes and bf16 in AMX tiles")};
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
  Option<bool> equalize{
      *this, "equalize",
      llvm::cl::desc("Make weights of neighbours as large as each other"),
      llvm::cl::init(false)};
  Option<bool> observeChannels{
      *this, "observe-channels",
      llvm::cl::desc("Show how large channels of what products read are"),
      llvm::cl::init(false)};
  Option<bool> observeGrams{
      *this, "observe-grams",
      llvm::cl::desc("Show what weights are multiplied by in a run"),
      llvm::cl::init(false)};
  Option<std::string> channels{
      *this, "channels",
      llvm::cl::desc("File of ingot calibrate: what moves into weights")};
  Option<std::string> biases{
      *this, "biases",
      llvm::cl::desc("File of ingot calibrate: how biases are corrected")};
  Option<std::string> rounding{
      *this, "rounding",
      llvm::cl::desc("File of ingot calibrate: how weights of a model with "
                     "switches are rounded")};
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
      llvm::cl::desc("Whether their scales may be larger, for CPUs without "
                     "VNNI"),
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
  Option<std::string> emulateOn{
      *this, "emulate-on",
      llvm::cl::desc("CPU level whose instructions are enough")};
  Option<uint64_t> scheduleSeed{
      *this, "schedule-seed",
      llvm::cl::desc("Draw schedules at random, if it is not 0"),
      llvm::cl::init(0)};
  Option<std::string> level{
      *this, "level",
      llvm::cl::desc("CPU level; the module's, if there is none")};
  ListOption<std::string> numbers{
      *this, "numbers",
      llvm::cl::desc("Of the level, what is not as usual: l2=2M")};

  PipelineOptions get() const {
    PipelineOptions options;
    options.kernels = kernels;
    options.onednnNodes.assign(onednnNodes.begin(), onednnNodes.end());
    options.precision = precision;
    options.halfSums = halfSums && precision == Precision::fp16;
    options.halfRest = halfRest && precision == Precision::fp32;
    options.amxTiles = amxTiles;
    options.precisionLevel = precisionLevel;
    options.observe = observe;
    options.switches = switches;
    options.errors = errors;
    options.equalize = equalize;
    options.observeChannels = observeChannels;
    options.observeGrams = observeGrams;
    options.channels = channels;
    options.biases = biases;
    options.rounding = rounding;
    options.calibration = calibration;
    options.quantization = quantization;
    options.weightBits = weightBits;
    options.fitPairs = fitPairs;
    options.keep.assign(keep.begin(), keep.end());
    options.keepFromInt8.assign(keepFromInt8.begin(), keepFromInt8.end());
    options.winograd = winograd;
    options.emulateOn = emulateOn;
    options.scheduleSeed = scheduleSeed;
    options.level = level;
    options.numbers.assign(numbers.begin(), numbers.end());
    return options;
  }
};

} // namespace

void ingot::registerPipelines() {
  for (const Phase &phase : kPhases)
    PassPipelineRegistration<TextOptions>(
        std::string("ingot-") + phase.name, phase.description,
        [&phase](OpPassManager &passes, const TextOptions &options) {
          phase.build(passes, options.get());
        });
}
