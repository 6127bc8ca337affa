//===- Pipeline.cpp - phases from ONNX to LLVM ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Pipeline.h"

#include "compiler/pipeline/Backends.h"
#include "compiler/pipeline/PrecisionName.h"
#include "passes/backend/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/legalize/Passes.h"
#include "passes/llvm/LLVMPipeline.h"
#include "passes/llvm/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/quantize/form/Passes.h"
#include "passes/shape/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

/// Returns the device that code is generated for.
static const Device &deviceOf(const PipelineOptions &options) {
  const Backend *asked = findBackend(options.kernels);
  return asked ? asked->device() : kCpu;
}

/// onnx.node → nn.
static void buildLegalizePipeline(OpPassManager &passes,
                                  const PipelineOptions &options) {
  if (!options.levels.empty()) {
    AttachTargetsOptions targets;
    targets.device = deviceOf(options).name.str();
    targets.levels.assign(options.levels.begin(), options.levels.end());
    targets.may.assign(options.mayLevels.begin(), options.mayLevels.end());
    targets.numbers.assign(options.numbers.begin(), options.numbers.end());
    passes.addPass(createAttachTargets(targets));
  }
  LegalizeOptions legalize;
  legalize.maxElements = options.maxTensorElements;
  legalize.maxLoopSteps = options.maxLoopSteps;
  passes.addPass(createLegalize(legalize));
  passes.addPass(createRequireSizes());
  passes.addNestedPass<func::FuncOp>(createNameSizes());
  passes.addNestedPass<func::FuncOp>(createHoistChecks());
}

static void addFoldConstants(OpPassManager &passes,
                             const PipelineOptions &options) {
  FoldConstantsOptions fold;
  fold.maxBytes = options.maxFoldedBytes;
  passes.addPass(createFoldConstants(fold));
}

/// nn → fewer nn ops: ops that are only useful in training are folded or
/// merged.
static void buildGraphPipeline(OpPassManager &passes,
                               const PipelineOptions &options) {
  // Weights that are dequantized by hand must not be folded to floats.
  passes.addPass(createRecognizeDequantize());
  addFoldConstants(passes, options);
  passes.addPass(createCanonicalize());
  passes.addNestedPass<func::FuncOp>(createCheckIndices());
  passes.addNestedPass<func::FuncOp>(createRefuteChecks());
  passes.addPass(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createPromoteFloats());
  passes.addPass(createRecognizeSlices());
  passes.addPass(createSimplify());
  passes.addPass(createRecognizeNorms());
  passes.addPass(createRecognizeActivations());
  passes.addPass(createFoldPad());
  passes.addPass(createFoldBatchNorm());
  passes.addPass(createMergeBranches());
  passes.addPass(createFoldScaleShift());
  passes.addPass(createMergeConvs({options.optimize}));
  passes.addPass(createPruneChannels());
  passes.addPass(createCountZeroWeights());
  passes.addPass(createWidenConvTranspose());
  addFoldConstants(passes, options);
  passes.addPass(createSimplify());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

/// Returns the backends of the device that code is generated for.
static SmallVector<const Backend *> backendsOf(const PipelineOptions &options) {
  return getBackends(deviceOf(options));
}

/// Returns true if the backend for heavy ops has kernels for quantized values.
/// Without such kernels, int8 products would become plain loops.
static bool takesQuantized(const PipelineOptions &options) {
  const Backend *asked = findBackend(options.kernels);
  return asked && asked->takesQuantized();
}

/// nn on floats → nn with quantized values where requested. Ops between
/// quantized ops work on bytes.
static void buildQuantizePipeline(OpPassManager &passes,
                                  const PipelineOptions &options) {
  if (!options.calibrationFile().empty())
    passes.addPass(createAttachCalibration({options.calibrationFile()}));
  const std::vector<std::string> &kept =
      options.keepFromInt8.empty() ? options.keep : options.keepFromInt8;
  if (takesQuantized(options)) {
    RecognizeFakeQuantizeOptions recognize;
    recognize.keep.assign(kept.begin(), kept.end());
    passes.addPass(createRecognizeFakeQuantize(recognize));
  }
  const bool isInt8 =
      !options.calibration.empty() && options.precision != Precision::fp16;
  const bool isRepaired = isInt8 || !options.repairs.empty();
  if (isRepaired)
    passes.addPass(createEqualizeLayers());
  if (options.observeChannels)
    passes.addPass(createInsertChannelObservers());
  if (isRepaired)
    passes.addPass(createSmoothActivations());
  if (options.observeGrams) {
    InsertGramObserversOptions observe;
    observe.keep.assign(kept.begin(), kept.end());
    passes.addPass(createInsertGramObservers(observe));
  }
  if (options.observe)
    passes.addPass(createInsertObservers());
  if (options.precisionFlags) {
    InsertPrecisionFlagsOptions insert;
    insert.errors = options.errors;
    insert.int8Weights = options.int8Weights;
    insert.keep.assign(kept.begin(), kept.end());
    passes.addPass(createInsertPrecisionFlags(insert));
  }
  if (options.precision == Precision::fp16 && !options.calibration.empty())
    passes.addPass(createExcludeOverflow());
  if (isInt8) {
    InsertQuantizeOptions insert;
    insert.int8Weights = options.int8Weights;
    insert.keep.assign(kept.begin(), kept.end());
    passes.addPass(createInsertQuantize(insert));
  }
  if (isRepaired)
    passes.addPass(createCorrectBiases());
  if (isInt8 || options.quantization == Quantization::int8Dynamic) {
    InsertDynamicQuantizeOptions insert;
    insert.innerOnly = options.quantization != Quantization::int8Dynamic;
    insert.int8Weights = options.int8Weights;
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
    if (options.quantization != Quantization::none)
      tables.narrow = narrowName(options).str();
    tables.keep.assign(kept.begin(), kept.end());
    passes.addPass(createQuantizeTables(tables));
  }
  // Run after the passes that need the nodes' own tensors, but before bytes are
  // propagated.
  passes.addPass(createPatchesToMatMul(
      {/*bytesOnly=*/options.precision == Precision::fp32}));
  passes.addPass(createFoldChannelScales());
  passes.addPass(createPropagateQuantize());
  passes.addPass(createClampBytes());
  // Fold transposes of byte weights, so that the weights are constants again.
  addFoldConstants(passes, options);
  if (takesQuantized(options)) {
    passes.addPass(createFuseByteAttention());
    passes.addPass(createQuantizeComputedProducts());
    passes.addPass(createQuantizeProducts());
    passes.addPass(createPadChannels());
    passes.addPass(createQuantizeInt16(
        {options.winograd ? options.optimize : OptimizeFor::size}));
    // Weights may be stored as bytes even if they are not multiplied as bytes.
    passes.addPass(createPackWeights());
    RoundPackedRowsOptions round;
    round.any = options.quantization == Quantization::int8Dynamic;
    round.keep.assign(kept.begin(), kept.end());
    passes.addPass(createRoundPackedRows(round));
    passes.addPass(createUnpackWeights({options.optimize}));
    // Merge the scales of bytes with the model's own scales and shifts that
    // follow them.
    passes.addPass(createMergeScaleShifts());
  }
  passes.addPass(createDecomposeQuantize());
  passes.addPass(createFoldRequantize());
  addFoldConstants(passes, options);
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
  if (takesQuantized(options)) {
    passes.addPass(createFoldByteScales());
    passes.addPass(createNarrowSaturation());
    passes.addPass(createFoldDequantize());
  }
}

/// Moves channels to the last dimension inside the model. Transposes remain at
/// the model's inputs and outputs.
static void buildLayoutPipeline(OpPassManager &passes,
                                const PipelineOptions &options) {
  passes.addPass(createDropBroadcasts());
  passes.addPass(createDropIdentities());
  passes.addPass(createToChannelsLast());
  passes.addPass(createPropagateTransposes());
  // Normalizations over channels now work on the last dimension.
  passes.addPass(createRecognizeNorms());
  addFoldConstants(passes, options);
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

bool ingot::takesPart(const Backend &backend, const PipelineOptions &options) {
  return backend.device() == deviceOf(options) &&
         (backend.takesRest() || backend.name() == options.kernels ||
          backend.name() == options.preferred);
}

/// nn → ops of the backends, on tensors. All backends share the passes of this
/// phase and of all earlier phases.
static void buildLowerPipeline(OpPassManager &passes,
                               const PipelineOptions &options) {
  passes.addPass(createLowerReshapes());
  passes.addNestedPass<func::FuncOp>(createBroadcastBatches());
  AssignBackendsOptions assigned;
  assigned.backends.push_back(options.kernels);
  assigned.preferred = options.preferred;
  assigned.preferredNodes.assign(options.preferredNodes.begin(),
                                 options.preferredNodes.end());
  passes.addPass(createAssignBackends(assigned));
  SmallVector<const Backend *> backends = backendsOf(options);
  llvm::erase_if(backends, [&](const Backend *backend) {
    return !takesPart(*backend, options);
  });
  for (const Backend *backend : backends)
    backend->buildLower(passes, options);
  for (const Backend *backend : backends)
    backend->buildLowered(passes, options);
}

/// tensors → memrefs at fixed offsets of one arena.
static void buildMemoryPipeline(OpPassManager &passes,
                                const PipelineOptions &options) {
  passes.addPass(createPrepareEntry());
  passes.addPass(createCanonicalize());
  passes.addNestedPass<func::FuncOp>(createPlaceState());
  passes.addPass(createReuseOperands());
  passes.addPass(createReuseEpilogueOperands());
  passes.addNestedPass<func::FuncOp>(createHoistChecks());
  passes.addPass(createEliminateEmpties());
  // CSE moves ops across checks, so move the checks up again.
  passes.addNestedPass<func::FuncOp>(createHoistChecks());
  // Resolve sizes, so that no memory is needed for a tensor that is only used
  // for its size.
  passes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  passes.addPass(createBufferize());
  // CSE merges equal views. Then copies from a buffer to itself can be found.
  passes.addPass(createCSEPass());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
  passes.addPass(
      createCollectWeights({/*takeAll=*/deviceOf(options).hasOwnMemory}));
  passes.addNestedPass<func::FuncOp>(createPlaceOutputs());
  passes.addPass(createCheckSizes());
  passes.addNestedPass<func::FuncOp>(createSkipUnread());
  passes.addNestedPass<func::FuncOp>(createSkipEmptyLoops());
  passes.addNestedPass<func::FuncOp>(createChainImages());
  passes.addNestedPass<func::FuncOp>(createPlaceChunks());
  passes.addPass(createBoundBuffers());
  passes.addPass(createPlanMemory());
  passes.addPass(createOutlineInference());
  passes.addPass(createInstrumentLayers());
  for (const Backend *backend : backendsOf(options))
    backend->buildMemory(passes);
}

/// ops on memrefs → launches of kernels, split into tasks. This is the first
/// phase that depends on the CPU level, because a task is a number of whole
/// register tiles.
static void buildKernelsPipeline(OpPassManager &passes,
                                 const PipelineOptions &options) {
  if (!options.level.empty()) {
    AttachTargetOptions target;
    target.level = options.level;
    target.numbers.assign(options.numbers.begin(), options.numbers.end());
    passes.addPass(createAttachTarget(target));
  }
  for (const Backend *backend : backendsOf(options))
    backend->buildKernels(passes, options);
  passes.addPass(createOutlineRepeats());
}

/// kernels of each backend → loops over vectors → LLVM dialect.
static void buildCodegenPipeline(OpPassManager &passes,
                                 const PipelineOptions &options) {
  for (const Backend *backend : backendsOf(options))
    backend->buildCodegen(passes, options);
  buildLLVMPipeline(passes);
}

static constexpr Phase kPhases[] = {
    {"nn", "ONNX nodes legalized to named tensor ops", buildLegalizePipeline},
    {"graph", "graph simplified, training-time structure removed",
     buildGraphPipeline},
    {"quantize", "values quantized by a calibration, products in int8",
     buildQuantizePipeline,
     /*dependsOnLevel=*/false, /*attachesCalibration=*/true},
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
  // In the text, names stand between (, ), {, } and commas: `a(b{option=x},c)`.
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
