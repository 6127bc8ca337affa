//===- Compilation.h - the steps of a compilation ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_COMPILATION_H
#define INGOT_COMPILER_DRIVER_COMPILATION_H

#include "compiler/driver/Compiler.h"
#include "compiler/driver/ErrorWatch.h"
#include "compiler/driver/OutputFiles.h"
#include "compiler/driver/PhaseProgress.h"
#include "passes/quantize/CalibrationFile.h"

namespace ingot {

/// A compilation: import, phases, code generation, and output files.
class Compilation {
public:
  Compilation(const CompileOptions &options, mlir::MLIRContext &context)
      : options(options), pipeline(options.pipeline), context(context),
        errors(context), progress(options), files(context, options.output) {}

  mlir::FailureOr<CompileResult> run();
  mlir::FailureOr<std::string> describePipeline();

private:
  /// The code of one CPU level in LLVM IR.
  struct LevelModule {
    llvm::LLVMContext context;
    std::unique_ptr<llvm::Module> module;
    std::unique_ptr<llvm::TargetMachine> machine;
  };

  mlir::LogicalResult chooseTargets();
  mlir::LogicalResult checkDumps();
  mlir::LogicalResult readCalibration();
  void keepCalibrated();
  mlir::LogicalResult checkKept();
  mlir::LogicalResult
  checkCalibration(llvm::ArrayRef<std::string> externalLocations);
  mlir::LogicalResult checkTF32();
  mlir::LogicalResult choosePipelines();
  void checkBF16();
  void checkF16Sums();
  mlir::LogicalResult chooseKernels();
  mlir::LogicalResult importAndLower();
  mlir::LogicalResult runSharedPhases();
  mlir::LogicalResult addUsualBodies(ImportOptions import);
  void dropConstants(mlir::ModuleOp current);
  void dropConstantsAfter(mlir::PassManager &passes);
  mlir::LogicalResult runPhases(mlir::ModuleOp module,
                                const PipelineOptions &pipeline,
                                llvm::ArrayRef<Phase> phases,
                                llvm::StringRef last = {});
  mlir::LogicalResult describe();
  mlir::LogicalResult describeDevice(llvm::StringRef symbol);
  void addLibraries(mlir::ModuleOp lowered);
  void addRecord(mlir::ModuleOp lowered, const Device &device);
  mlir::LogicalResult describePrecision();
  void setMetadata(llvm::StringRef key, llvm::StringRef value);
  PipelineOptions &pipelineOf(const Target &target) {
    return target.isForCpu() ? pipeline : devicePipeline;
  }
  /// Runs the phases that depend on the level on a copy of the module. Returns
  /// null if a phase fails.
  mlir::OwningOpRef<mlir::ModuleOp> lower(const Target &target);
  /// Translates the result of `lower` to LLVM IR.
  mlir::FailureOr<std::unique_ptr<LevelModule>>
  translate(mlir::ModuleOp lowered, const Target &target);
  /// Optimizes LLVM IR. Threads may optimize several levels at a time.
  void optimizeLevel(LevelModule &level);
  mlir::FailureOr<CompileResult> emitText();
  /// Generates the object code of a level. Returns false if LLVM cannot.
  /// Threads may generate several levels at a time.
  bool emitLevel(LevelModule &level, llvm::SmallVectorImpl<char> &code);
  mlir::LogicalResult emitLevels(std::vector<MemoryFile> &objects);
  mlir::FailureOr<MemoryFile> emitDescription();
  mlir::FailureOr<MemoryFile> toFile(llvm::StringRef bytes);
  mlir::FailureOr<CompileResult> emitLibrary();
  mlir::FailureOr<CompileResult> writeFiles(llvm::StringRef linked);
  void notePublished();

  mlir::LogicalResult fail(const llvm::Twine &message) {
    return mlir::emitError(mlir::UnknownLoc::get(&context)) << message;
  }
  /// Fails with a message. The hint becomes a note of the diagnostic.
  mlir::LogicalResult fail(const llvm::Twine &message,
                           const llvm::Twine &hint) {
    mlir::InFlightDiagnostic error =
        mlir::emitError(mlir::UnknownLoc::get(&context));
    error << message;
    error.attachNote() << hint;
    return error;
  }
  /// Fails with `problem` as the message, unless `problem` is "".
  mlir::LogicalResult failIf(const std::string &problem) {
    return problem.empty() ? mlir::success() : fail(problem);
  }
  bool optimizesForSize() const {
    return options.pipeline.optimize == OptimizeFor::size;
  }
  /// Starts a step of the progress. Fails if the caller has cancelled.
  mlir::LogicalResult start(llvm::StringRef step,
                            const llvm::Twine &description);
  /// Measures the time of a step until the result goes out of scope.
  mlir::TimingScope time(llvm::StringRef step) {
    return options.timing ? options.timing->nest(step) : mlir::TimingScope();
  }

  const CompileOptions &options;
  PipelineOptions pipeline;
  /// The calibration that quantizes or repairs the model, if any.
  std::optional<quantize::Calibration> calibration;
  std::string modelSha256;
  mlir::MLIRContext &context;
  /// Any reported error fails the compilation, even if a pass succeeds.
  ErrorWatch errors;
  PhaseProgress progress;
  /// The model for CPUs, or for another device if there is only code for it.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The model for another device beside that for CPUs, if --target names both.
  mlir::OwningOpRef<mlir::ModuleOp> deviceModule;
  PipelineOptions devicePipeline;
  /// The levels of --target.
  Targets asked;
  /// The levels that the artifact has code for, lowest first. Code for another
  /// device than the CPU comes last.
  std::vector<Target> targets;
  Manifest manifest;
  /// The manifest of `deviceModule`.
  Manifest deviceManifest;
  SizeReport sizes;
  OutputFiles files;
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_COMPILATION_H
