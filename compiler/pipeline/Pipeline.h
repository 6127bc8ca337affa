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
  /// True for a calibration: a run shows the tensors whose ranges int8 needs.
  bool observe = false;
  /// True if a run decides what is rounded as int8 rounds it. The artifact has
  /// more inputs than the model.
  bool precisionFlags = false;
  /// True if a run shows, too, how large the errors of int8 products are.
  bool errors = false;
  /// True for a calibration: a run shows the Gram matrix of the data of each
  /// product.
  bool observeGrams = false;
  /// True for a calibration: a run shows the magnitude of each channel of the
  /// data of each product.
  bool observeChannels = false;
  /// The calibration file whose repairs a model gets that is not quantized by
  /// it; empty if none.
  std::string repairs;
  /// Keep rules for int8 if int8 and bf16 are combined; `keep` is then for
  /// bf16. If empty, `keep` is for both.
  std::vector<std::string> keepFromInt8;
  /// The bits of int8 weights: 8 or 7. With 7 bits, CPUs that multiply bytes as
  /// int16 pairs are faster.
  int weightBits = 8;
  /// True if scales of weights may grow, so that CPUs that multiply bytes as
  /// int16 pairs are as fast with 8 bits. Has no effect if the artifact has
  /// code for other CPUs.
  bool fitPairs = false;
  /// The CPU levels that the artifact has code for. If empty, the module's
  /// `ingot.targets`.
  std::vector<std::string> levels;
  /// Levels that get code only if they multiply the model's element types
  /// faster.
  std::vector<std::string> mayLevels;
  /// The level of the phases that depend on it. If empty, the module's
  /// `ingot.target`.
  std::string level;
  /// Overrides of the level's numbers, in `--target` syntax, e.g. `l2=2M`.
  std::vector<std::string> numbers;
  /// The most elements that one tensor may have; at most kLargestTensor.
  int64_t maxTensorElements = onnx::kLargestTensor;
  /// The most steps that a loop may take in a run.
  int64_t maxLoopSteps = onnx::kMostLoopSteps;

  /// Returns the calibration file that is attached to the module, or "".
  const std::string &calibrationFile() const {
    return calibration.empty() ? repairs : calibration;
  }
};

/// Returns true if a backend may compute ops. A backend that takes the rest
/// always may.
bool takesPart(const Backend &backend, const PipelineOptions &options);

/// A pipeline of passes. `--compile-to`, `--emit`, the `ingot-<name>` pipelines
/// of ingot-opt, and the documentation are made from the table of phases.
struct Phase {
  /// The name in `--compile-to`.
  const char *name;
  const char *description;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
  /// True if passes read the CPU level, the module's `ingot.target`. Phases
  /// that do not read it come first, since every level of an artifact shares
  /// their result.
  bool dependsOnLevel = false;
  /// True if the phase begins with `ingot-attach-calibration`. The driver,
  /// which has read the file, attaches the calibration before the phase.
  bool attachesCalibration = false;
};

/// Returns all phases, in order.
llvm::ArrayRef<Phase> getPhases();

/// Returns the phases that run once per model, and those that run once per CPU
/// level.
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
