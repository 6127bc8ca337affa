//===- Pipeline.h - phases from ONNX to LLVM --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_PIPELINE_PIPELINE_H
#define INGOT_COMPILER_PIPELINE_PIPELINE_H

#include "dialects/onnx/Limits.h"
#include "passes/backend/Backend.h"

#include "mlir/Pass/PassManager.h"

namespace ingot {

/// The backend that is asked where the user names none.
constexpr llvm::StringLiteral kDefaultKernels = "native";

struct PipelineOptions : BackendOptions {
  /// The backend that is asked for heavy ops; its device is the one that code
  /// is for.
  std::string kernels = kDefaultKernels.str();
  /// A backend that is asked first for some ONNX nodes; empty: none.
  std::string preferred;
  std::vector<std::string> preferredNodes;
  /// For calibration: the tensors that int8 wants ranges of are shown in a run.
  bool observe = false;
  /// A run says what is rounded as int8 rounds it; its inputs are more than the
  /// model's.
  bool switches = false;
  /// And shows how much products in bytes are too large.
  bool errors = false;
  /// For calibration, too: what the weights of products are multiplied by.
  bool observeGrams = false;
  /// For calibration, too: how large the channels of what products read
  /// are is shown.
  bool observeChannels = false;
  /// The file of ingot calibrate whose repairs a model gets that is not
  /// quantized by it; empty: none.
  std::string repairs;
  /// Of int8 beside bf16: rules for int8, where `keep` is for bf16. Empty:
  /// `keep` is for both.
  std::vector<std::string> keepFromInt8;
  /// Bits of weights of int8: 8, or 7, which CPUs that multiply bytes as words
  /// multiply faster.
  int weightBits = 8;
  /// Whether scales of weights may be larger, so that CPUs that multiply bytes
  /// as words multiply 8 bits as fast. Has no effect if other CPUs get code.
  bool fitPairs = false;
  /// CPU levels that the artifact has code for. Empty: the module's
  /// `ingot.targets`.
  std::vector<std::string> levels;
  /// Levels that get code if the model multiplies elements that they multiply
  /// faster.
  std::vector<std::string> mayLevels;
  /// The level of the phases that depend on it. Empty: the module's
  /// `ingot.target`.
  std::string level;
  /// Numbers of all levels that are not as usual, as `--target` has them:
  /// `l2=2M`.
  std::vector<std::string> numbers;
  /// Of one tensor; at most kLargestTensor.
  int64_t maxTensorElements = onnx::kLargestTensor;
  /// The most steps that a loop may take in a run.
  int64_t maxLoopSteps = onnx::kMostLoopSteps;

  /// The file of ingot calibrate that is attached to the module, or "".
  const std::string &calibrationFile() const {
    return calibration.empty() ? repairs : calibration;
  }
};

/// Returns whether a backend may compute ops. A backend that takes the rest
/// always may.
bool takesPart(const Backend &backend, const PipelineOptions &options);

/// A pipeline of passes. From this table come `--compile-to`, `--emit`, the
/// pipelines that ingot-opt knows by `ingot-<name>`, and the documentation.
struct Phase {
  /// As `--compile-to` names it.
  const char *name;
  const char *description;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
  /// Whether passes read the CPU level, the module's `ingot.target`. All that
  /// do not come first: their result serves every level of an artifact.
  bool dependsOnLevel = false;
  /// True if the phase begins with `ingot-attach-calibration`. The driver,
  /// which has read the file, attaches the calibration before the phase.
  bool attachesCalibration = false;
};

/// All phases, in order.
llvm::ArrayRef<Phase> getPhases();

/// The phases that run once a model, and those that run once a CPU level.
llvm::ArrayRef<Phase> getSharedPhases();
llvm::ArrayRef<Phase> getLevelPhases();

/// The phase called `name`, or null.
const Phase *findPhase(llvm::StringRef name);

/// Whether a pass with this argument is part of any phase.
bool hasPass(llvm::StringRef argument, const PipelineOptions &options,
             mlir::MLIRContext &context);

/// The passes of all phases up to the one called `last`, or of all, as
/// `ingot-opt --pass-pipeline` reads them.
std::string printPipeline(const PipelineOptions &options, llvm::StringRef last,
                          mlir::MLIRContext &context);

/// Makes each phase known as a pass pipeline, with PipelineOptions as options.
void registerPipelines();

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_PIPELINE_H
