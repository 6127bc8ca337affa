//===- PhaseProgress.h - how far a compilation is ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the steps of a compilation into fractions of the whole. Each step has
// a weight: its usual share of the time. Steps that depend on the CPU level
// count once for each level.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_PHASEPROGRESS_H
#define INGOT_COMPILER_DRIVER_PHASEPROGRESS_H

#include "base/Progress.h"
#include "compiler/driver/Compiler.h"

#include "mlir/Pass/PassManager.h"

#include <condition_variable>
#include <mutex>

namespace ingot {

class PhaseProgress {
public:
  explicit PhaseProgress(const CompileOptions &options) : options(options) {}

  /// Sets the number of CPU levels that get code.
  void setLevels(size_t number);

  /// Starts the step `name`, which is a row of the table of weights. Counts the
  /// previous step as done. Reports `description` to the caller.
  void start(llvm::StringRef name, const llvm::Twine &description);
  /// Reports that this share of the current step is done.
  void advance(double share);

  /// Continues the current step, code generation for a level, in another
  /// thread. The step is done when that thread calls finishCode.
  void moveToThread() { weight = 0; }
  void finishCode();
  /// Waits until finishCode was called `number` times. Reports the progress of
  /// the threads meanwhile.
  void waitForCode(size_t number);

  /// Reports the progress after each pass of `passes`. Skips the remaining
  /// passes once the caller cancels.
  void watch(mlir::PassManager &passes, mlir::MLIRContext &context);
  /// Removes what `watch` has installed.
  void unwatch(mlir::MLIRContext &context);

  bool isCancelled() const { return options.progress.cancelled(); }

private:
  void tell();

  const CompileOptions &options;
  std::string description;
  /// Weight of all steps, of the finished steps, and of the current step.
  double total = 1, done = 0, weight = 0;
  double share = 0;
  /// The last fraction that was reported. Reported fractions never decrease,
  /// even if levels are added.
  double told = 0;
  std::mutex mutex;
  std::condition_variable changed;
  /// The number of levels whose code is finished. `mutex` guards it.
  size_t codes = 0;
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_PHASEPROGRESS_H
