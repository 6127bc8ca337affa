//===- Compiler.cpp - compiles a model ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compiler.h"

#include "compiler/driver/Compilation.h"
#include "compiler/driver/DecisionTrace.h"
#include "compiler/driver/FreeDims.h"
#include "compiler/driver/OutputNames.h"
#include "compiler/driver/PrecisionRecord.h"
#include "compiler/emit/SymbolName.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/pipeline/Register.h"
#include "compiler/quantize/ModelHash.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/Metadata.h"
#include "dialects/nn/NodeName.h"
#include "dialects/onnx/OnnxDialect.h"
#include "passes/legalize/core/Legalize.h"
#include "passes/quantize/AttachedCalibration.h"
#include "passes/support/Rules.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;
using namespace ingot;

std::unique_ptr<MLIRContext> ingot::createContext() {
  DialectRegistry registry;
  registerDialects(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto context = std::make_unique<MLIRContext>(
      registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  // Notes of diagnostics are hints for the user, without MLIR's operations.
  context->printOpOnDiagnostic(false);
  return context;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

LogicalResult Compilation::start(StringRef step, const Twine &description) {
  if (progress.isCancelled())
    return fail(kCancelled);
  progress.start(step, description);
  return success();
}

LogicalResult Compilation::runPhases(ModuleOp module,
                                     const PipelineOptions &pipeline,
                                     ArrayRef<Phase> phases, StringRef last) {
  for (const Phase &phase : phases) {
    if (failed(start(phase.name, phase.description)))
      return failure();
    dropConstants(module);
    if (phase.attachesCalibration && calibration)
      quantize::attachCalibration(module, *calibration,
                                  pipeline.calibrationFile());
    TimingScope timing = time(phase.name);
    PassManager passes(&context);
    passes.enableTiming(timing);
    phase.build(passes, pipeline);
    // Verifying a large module takes as long as most passes do. Verify once per
    // phase, or after each pass when debugging passes.
    bool verifiesEach = options.verifyEach || !options.dumpAfter.empty();
    passes.enableVerifier(verifiesEach);
    if (!options.dumpAfter.empty())
      passes.enableIRPrinting(
          /*shouldPrintBeforePass=*/nullptr,
          /*shouldPrintAfterPass=*/
          [&](Pass *pass, Operation *) {
            return llvm::any_of(options.dumpAfter, [&](StringRef name) {
              return name == "all" || name == pass->getArgument();
            });
          },
          /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false);
    if (!phase.dependsOnLevel)
      dropConstantsAfter(passes);
    progress.watch(passes, context);
    const LogicalResult ran = passes.run(module);
    progress.unwatch(context);
    if (progress.isCancelled())
      return fail(kCancelled);
    if (failed(ran) || (!verifiesEach && failed(verify(module))) ||
        failed(errors.check()))
      return failure();
    if (last == phase.name)
      break;
  }
  return success();
}

/// Adds a body for the usual sizes of each profile: a copy of the model with
/// these sizes. Later passes share the weights and kernels that bodies have in
/// common.
LogicalResult Compilation::addUsualBodies(ImportOptions import) {
  if (options.profiles.empty())
    return success();
  auto forward = module->lookupSymbol<func::FuncOp>(kForward);
  if (llvm::Error error = setShapeProfiles(forward, options.profiles,
                                           import.maxTensorElements))
    return fail(llvm::toString(std::move(error)));
  if (options.takesGeneral)
    IngotDialect::TakesGeneralAttrHelper(&context).setAttr(
        *module, UnitAttr::get(&context));
  auto profiles =
      IngotDialect::ShapeProfilesAttrHelper(&context).getAttr(*module);
  import.externalFiles = nullptr;
  import.externalLocations = nullptr;
  for (auto [i, profile] :
       llvm::enumerate(profiles.getAsRange<ShapeProfileAttr>())) {
    if (!profile.hasUsual())
      continue;
    TimingScope timing = time("import for profile " + std::to_string(i + 1));
    fixUsualSizes(forward, i, import);
    OwningOpRef<ModuleOp> usual =
        importModel(options.input, context, import);
    if (!usual || failed(errors.check()))
      return failure();
    auto body = usual->lookupSymbol<func::FuncOp>(kForward);
    body->remove();
    body.setName((kForward + "_" + Twine(i + 1)).str());
    IngotDialect::UsualOfAttrHelper(&context).setAttr(
        body, Builder(&context).getI64IntegerAttr(i));
    module->push_back(body);
  }
  return success();
}

/// Runs the phases that all levels share. Profiles give sizes to dimension
/// names. So with profiles, all dimensions of one name stay equal.
LogicalResult Compilation::runSharedPhases() {
  ArrayRef<Phase> phases = getSharedPhases();
  if (!options.profiles.empty() || !hasSharedDimNames(*module))
    return runPhases(*module, pipeline, phases, options.lastPhase);
  const Phase &first = phases.front();
  OwningOpRef<ModuleOp> imported = module->clone();
  if (failed(runPhases(*module, pipeline, first, options.lastPhase)))
    return failure();
  {
    TimingScope timing = time("free dimensions");
    auto legalize = [&](ModuleOp tried) {
      PassManager passes(&context);
      first.build(passes, pipeline);
      return passes.run(tried);
    };
    if (auto freed = freeDims(*imported, *module, legalize))
      module = std::move(freed);
    imported = nullptr;
  }
  return options.lastPhase == first.name
             ? success()
             : runPhases(*module, pipeline, phases.drop_front(),
                         options.lastPhase);
}

LogicalResult Compilation::importAndLower() {
  if (failed(start("import", "import")))
    return failure();
  ImportOptions import = options.import;
  std::vector<llvm::sys::fs::UniqueID> externalFiles;
  import.externalFiles = &externalFiles;
  std::vector<std::string> externalLocations;
  import.externalLocations = &externalLocations;
  import.isSupported = isLegalizable;
  {
    TimingScope timing = time("import");
    module = importModel(options.input, context, import);
  }
  if (!module || failed(errors.check()))
    return failure();
  if (options.operators)
    module->walk([&](onnx::NodeOp node) {
      (*options.operators)[nodeNameOf(node.getLoc())] = node.getOpType().str();
    });
  sizes.modelWeights = countConstantBytes(*module);
  if (failed(failIf(checkNamesAgainst(options, externalFiles))) ||
      failed(checkCalibration(externalLocations)) || failed(checkKept()))
    return failure();
  if (failed(addUsualBodies(import)))
    return failure();
  bool isText = options.emit == EmitKind::mlir;
  if (asked.host && !asked.sure.empty())
    deviceModule = module->clone();
  if ((!isText || !options.lastPhase.empty()) && failed(runSharedPhases()))
    return failure();
  if (deviceModule &&
      failed(runPhases(*deviceModule, devicePipeline, getSharedPhases())))
    return failure();
  if (!isText)
    return success();
  if (targets.size() == 1)
    pipeline.level = targets.front().level;
  const Phase *last = findPhase(options.lastPhase);
  return last && last->dependsOnLevel
             ? runPhases(*module, pipeline, getLevelPhases(),
                         options.lastPhase)
             : success();
}

LogicalResult Compilation::describe() {
  std::string symbol =
      options.symbol.empty() ? symbolForFile(options.output) : options.symbol;
  auto readModule = [&] {
    FailureOr<Manifest> read = readManifest(*module, targets, symbol);
    if (succeeded(read))
      manifest = std::move(*read);
    return success(succeeded(read));
  };
  if (failed(readModule()))
    return failure();
  auto multiplies = [&](Precision precision) {
    return llvm::any_of(manifest.layers, [&](const Layer &layer) {
      return layer.precision == precision;
    });
  };
  // Levels that multiply bytes faster also multiply int16 and binary values
  // faster.
  const Multiplied multiplied{multiplies(Precision::int8) ||
                                  multiplies(Precision::int16) ||
                                  multiplies(Precision::binary),
                              multiplies(Precision::bf16)};
  // Drop levels of `multi` that do not help the model.
  if (std::vector<Target> picked = asked.pick(multiplied);
      picked.size() > asked.sure.size()) {
    targets = std::move(picked);
    if (asked.host)
      targets.push_back(*asked.host);
    if (failed(readModule()))
      return failure();
  }
  if (failed(describeDevice(symbol)))
    return failure();
  manifest.libraryName = fileName(options.output);
  countFewerProducts(*module, sizes);
  static constexpr std::pair<Precision, const char *> kUses[] = {
#define INGOT_PRECISION(NAME, USE) {Precision::NAME, USE},
#include "runtime/include/ingot/abi/precisions.inc"
  };
  for (auto [precision, use] : kUses)
    if (precision != Precision::fp32 && multiplies(precision))
      manifest.uses.push_back({INGOT_ABI_USE_PRECISION, 0, use});
  return describePrecision();
}

/// Sets metadata of the artifact, replacing the model's entry of that name. An
/// empty value removes the entry.
void Compilation::setMetadata(StringRef key, StringRef value) {
  llvm::erase_if(manifest.metadata,
                 [&](auto &entry) { return entry.first == key; });
  if (!value.empty())
    manifest.metadata.push_back({key.str(), value.str()});
}

/// Records the precision that the user asked for.
LogicalResult Compilation::describePrecision() {
  llvm::Expected<std::string> record = recordPrecision(options.pipeline);
  if (!record)
    return fail(llvm::toString(record.takeError()));
  setMetadata(metadatakey::precision, *record);
  OptimizeFor goal = options.pipeline.optimize;
  setMetadata(metadatakey::optimize, goal == OptimizeFor::balanced
                                         ? StringRef()
                                         : StringRef(getSizeRule(goal).name));
  setMetadata(metadatakey::model_sha256, modelSha256);
  setMetadata(metadatakey::options, options.given);
  setMetadata(metadatakey::commit, compilerCommit());
  // The phases of a level describe the code for a device.
  for (const Backend *backend : getBackends())
    if (StringRef key = backend->device().emission.record; !key.empty())
      setMetadata(key, StringRef());
  setMetadata(metadatakey::preprocess, calibration && calibration->preprocess
                                           ? StringRef(*calibration->preprocess)
                                           : StringRef());
  return success();
}

/// Removes the argument attributes that passes use to exchange facts. LLVM's
/// translation warns about each attribute that it does not know.
static void dropFacts(ModuleOp module) {
  for (auto function : module.getOps<FunctionOpInterface>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attr : function.getArgAttrs(i))
        if (isa<IngotDialect>(attr.getNameDialect()))
          function.removeArgAttr(i, attr.getName());
}

/// Adds the libraries that the code of a level calls to the manifest.
void Compilation::addLibraries(ModuleOp lowered) {
  for (Usage &use : readLibraries(lowered))
    if (!manifest.usesLibrary(use.name))
      manifest.uses.insert(manifest.uses.begin(), std::move(use));
}

/// Adds the description of the code for a device to the manifest.
void Compilation::addRecord(ModuleOp lowered, const Device &device) {
  const StringRef key = device.emission.record;
  if (key.empty())
    return;
  IngotDialect::MetadataAttrHelper helper(&context);
  if (DictionaryAttr metadata = helper.getAttr(lowered))
    if (auto text = metadata.getAs<StringAttr>(key))
      setMetadata(key, text);
}

OwningOpRef<ModuleOp> Compilation::lower(const Target &target) {
  const bool isFork = !target.isForCpu() && deviceModule;
  OwningOpRef<ModuleOp> copy = (isFork ? *deviceModule : *module).clone();
  PipelineOptions &chosen = pipelineOf(target);
  chosen.level = target.level;
  if (failed(runPhases(*copy, chosen, getLevelPhases())))
    return nullptr;
  addLibraries(*copy);
  addRecord(*copy, *target.device);
  return copy;
}

FailureOr<std::unique_ptr<Compilation::LevelModule>>
Compilation::translate(ModuleOp lowered, const Target &target) {
  if (failed(start("code", "code generation for " + target.level)))
    return failure();
  auto code = std::make_unique<LevelModule>();
  code->machine = target.createTargetMachine();
  if (!code->machine)
    return fail("LLVM was built without its X86 target");
  {
    TimingScope timing = time("translate to LLVM IR");
    dropFacts(lowered);
    code->module = translateModuleToLLVMIR(lowered, code->context, "model");
  }
  if (!code->module)
    return fail("translation to LLVM IR failed");
  addRunFunction(*code->module,
                 !target.isForCpu() && deviceModule ? deviceManifest : manifest,
                 target);
  if (failed(errors.check()))
    return failure();
  return code;
}

void Compilation::optimizeLevel(LevelModule &level) {
  TimingScope timing = time("optimize LLVM IR");
  optimize(*level.module, *level.machine, optimizesForSize());
}

/// Rejects names of unknown passes, because nothing would be dumped for them.
LogicalResult Compilation::checkDumps() {
  for (const std::string &name : options.dumpAfter)
    if (name != "all" && !hasPass(name, pipeline, context))
      return fail("--dump-after=" + name +
                  ": no pass of this compilation has that name");
  return success();
}

/// Reads the calibration first, so that a bad file fails early.
LogicalResult Compilation::readCalibration() {
  if (pipeline.calibrationFile().empty())
    return success();
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(pipeline.calibrationFile());
  if (!read)
    return fail(llvm::toString(read.takeError()));
  calibration = std::move(*read);
  keepCalibrated();
  return success();
}

/// Adds rules for the nodes that the calibration keeps in fp32. The user's
/// rules come first, because the first match decides.
void Compilation::keepCalibrated() {
  if (calibration->keep.empty() || pipeline.precision == Precision::fp16)
    return;
  // Layers that are not in int8 may still be in bf16.
  if (pipeline.precision != Precision::fp32 && pipeline.keepFromInt8.empty())
    pipeline.keepFromInt8 = pipeline.keep;
  std::vector<std::string> &rules = pipeline.precision == Precision::fp32
                                        ? pipeline.keep
                                        : pipeline.keepFromInt8;
  for (const std::string &node : calibration->keep)
    rules.push_back(keepRule(node));
}

/// Checks that the model has the nodes that the calibration keeps in fp32.
LogicalResult Compilation::checkKept() {
  if (!calibration || calibration->keep.empty())
    return success();
  llvm::StringSet<> names;
  module->walk([&](onnx::NodeOp node) {
    forEachNode(node.getLoc(),
                [&](StringAttr name) { names.insert(name.getValue()); });
  });
  for (const std::string &node : calibration->keep)
    if (!names.contains(node))
      return fail("'" + printable(pipeline.calibrationFile()) +
                  "' keeps node '" + printable(node) +
                  "' in fp32, but the model has no such node" +
                  nearNames(node, llvm::to_vector(names.keys())));
  return success();
}

/// Hashes the model, and checks that the calibration was made from it.
LogicalResult
Compilation::checkCalibration(ArrayRef<std::string> externalLocations) {
  if (options.emit == EmitKind::mlir && !pipeline.observe &&
      !pipeline.precisionFlags && pipeline.calibration.empty())
    return success();
  std::string problem = quantize::hashModel(
      options.input,
      std::vector<std::string>(externalLocations.begin(),
                               externalLocations.end()),
      modelSha256);
  if (!problem.empty())
    return fail("cannot read '" + printable(options.input) + "': " + problem);
  if (pipeline.calibration.empty() || modelSha256 == calibration->sha256)
    return success();
  return fail("'" + printable(pipeline.calibration) + "' is of '" +
                  printable(calibration->model) + "' with SHA-256 " +
                  StringRef(calibration->sha256).take_front(12) + "…, but '" +
                  printable(options.input) + "' has " +
                  StringRef(modelSha256).take_front(12) + "…",
              "calibrate this model");
}

FailureOr<CompileResult> Compilation::run() {
  if (failed(failIf(checkNames(options))) || failed(chooseTargets()) ||
      failed(checkDumps()) || failed(readCalibration()) ||
      failed(chooseKernels()))
    return failure();
  progress.setLevels(targets.size());
  if (failed(importAndLower()))
    return failure();
  if (options.emit == EmitKind::mlir)
    return emitText();
  if (failed(describe()))
    return failure();
  progress.setLevels(targets.size());
  FailureOr<CompileResult> result =
      options.emit == EmitKind::sharedLibrary ? emitLibrary() : emitText();
  if (succeeded(result)) {
    result->modelSha256 = modelSha256;
    progress.advance(1);
  }
  return result;
}

LogicalResult ingot::checkOutputs(const CompileOptions &options,
                                  MLIRContext &context) {
  std::string problem = checkNames(options);
  if (problem.empty())
    return success();
  return emitError(UnknownLoc::get(&context)) << problem;
}

FailureOr<std::string> Compilation::describePipeline() {
  if (failed(chooseTargets()) || failed(readCalibration()) ||
      failed(chooseKernels()))
    return failure();
  std::string text;
  for (const Target &target : targets) {
    PipelineOptions &chosen = pipelineOf(target);
    chosen.level = target.level;
    text += printPipeline(chosen, options.lastPhase, context) + "\n";
  }
  return text;
}

FailureOr<std::string> ingot::describePipeline(const CompileOptions &options,
                                               MLIRContext &context) {
  return Compilation(options, context).describePipeline();
}

FailureOr<CompileResult> ingot::compileModel(const CompileOptions &options,
                                             MLIRContext &context) {
  if (options.decisions)
    options.decisions->clear();
  return Compilation(options, context).run();
}
