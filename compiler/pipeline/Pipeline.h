//===- Pipeline.h - phases from ONNX to LLVM --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_PIPELINE_PIPELINE_H
#define INGOT_COMPILER_PIPELINE_PIPELINE_H

#include "dialects/cpu/CpuDialect.h"
#include "dialects/onnx/Limits.h"
#include "passes/backend/Backend.h"
#include "passes/quantize/Int8Weights.h"

#include "mlir/Pass/PassManager.h"

namespace ingot {

/// The backend for heavy ops if the user names none.
constexpr llvm::StringLiteral kDefaultKernels = cpu::kBackend;

struct PipelineOptions : BackendOptions {
  /// The backend for heavy ops. Code is generated for its device.
  std::string kernels = kDefaultKernels.str();
  /// A backend that is preferred for `preferredNodes`; empty if none.
  std::string preferred;
  std::vector<std::string> preferredNodes;
  /// True for a calibration: a run shows the tensors that need ranges for int8.
  bool observe = false;
  /// True if a run can round the operands of selected products as int8 would.
  /// Additional inputs of the artifact make the selection.
  bool precisionFlags = false;
  /// True if a run also shows the errors of int8 products.
  bool errors = false;
  /// True for a calibration: for each product, a run shows the Gram matrix of
  /// its data.
  bool observeGrams = false;
  /// True for a calibration: for each product, a run shows the magnitude of
  /// each channel of its data.
  bool observeChannels = false;
  /// A calibration file of which only the repairs are applied, without
  /// quantization; empty if none.
  std::string repairs;
  /// Keep rules for int8, if int8 and bf16 are combined. Then `keep` is only
  /// for bf16. If empty, `keep` is for both.
  std::vector<std::string> keepFromInt8;
  quantize::Int8Weights int8Weights = quantize::Int8Weights::eight;
  /// The CPU levels that the artifact has code for. If empty, the module's
  /// `ingot.targets`.
  std::vector<std::string> levels;
  /// Levels that get code only if they multiply the model's element types
  /// faster.
  std::vector<std::string> mayLevels;
  /// The level for the phases that depend on one. If empty, the module's
  /// `ingot.target`.
  std::string level;
  /// Overrides of the level's numbers, in `--target` syntax, e.g. `l2=2M`.
  std::vector<std::string> numbers;
  /// The most elements that one tensor may have; at most kLargestTensor.
  int64_t maxTensorElements = onnx::kLargestTensor;
  /// The maximum number of steps of a loop in a run.
  int64_t maxLoopSteps = onnx::kMostLoopSteps;

  /// Returns the calibration file that is attached to the module, or "".
  const std::string &calibrationFile() const {
    return calibration.empty() ? repairs : calibration;
  }
};

/// Returns true if the options allow a backend to compute ops. A backend that
/// takes the remaining ops is always allowed.
bool takesPart(const Backend &backend, const PipelineOptions &options);

/// A pipeline of passes. The table of phases defines `--compile-to`, `--emit`,
/// the `ingot-<name>` pipelines of ingot-opt, and their documentation.
struct Phase {
  /// The name in `--compile-to`.
  const char *name;
  const char *description;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
  /// True if passes read the CPU level, the module's `ingot.target`. Phases
  /// that do not read it come first, so that all levels of an artifact share
  /// their result.
  bool dependsOnLevel = false;
  /// True if the phase begins with `ingot-attach-calibration`. The driver does
  /// that pass's work before the phase, because it has read the file already.
  bool attachesCalibration = false;
};

/// Returns all phases, in order.
llvm::ArrayRef<Phase> getPhases();

/// Returns the phases that run once for each model, and the phases that run
/// once for each CPU level.
llvm::ArrayRef<Phase> getSharedPhases();
llvm::ArrayRef<Phase> getLevelPhases();

/// Returns the phase called `name`, or null.
const Phase *findPhase(llvm::StringRef name);

/// Returns true if a pass with this argument is part of any phase.
bool hasPass(llvm::StringRef argument, const PipelineOptions &options,
             mlir::MLIRContext &context);

/// Returns the passes of all phases up to the one called `last`, or of all
/// phases, in the syntax of `ingot-opt --pass-pipeline`.
std::string printPipeline(const PipelineOptions &options, llvm::StringRef last,
                          mlir::MLIRContext &context);

/// Registers each phase as a pass pipeline, with PipelineOptions as options.
void registerPipelines();

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_PIPELINE_H
