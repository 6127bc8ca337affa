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

  /// Starts the step `name`, a row of the table of weights. The step before is
  /// done. Tells the caller `description`.
  void start(llvm::StringRef name, const llvm::Twine &description);
  /// Tells the caller that this share of the current step is done.
  void advance(double share);

  /// Lets the current step, which makes the code of a level, go on in another
  /// thread. It is done when that thread calls finishCode.
  void moveToThread() { weight = 0; }
  void finishCode();
  /// Waits until finishCode was called `number` times, and tells the caller how
  /// far the threads are.
  void waitForCode(size_t number);

  /// Tells the caller after each pass of `passes` how far the phase is. Skips
  /// passes once the caller cancels.
  void watch(mlir::PassManager &passes, mlir::MLIRContext &context);
  /// Ends what `watch` has started.
  void unwatch(mlir::MLIRContext &context);

  bool isCancelled() const { return options.progress.cancelled(); }

private:
  void tell();

  const CompileOptions &options;
  std::string description;
  /// Weights of all steps, of the steps that are done, and of the current one.
  double total = 1, done = 0, weight = 0;
  double share = 0;
  /// The last fraction that was told. Fractions never fall, even if levels are
  /// added.
  double told = 0;
  std::mutex mutex;
  std::condition_variable changed;
  /// The number of finished codes, which `mutex` guards.
  size_t codes = 0;
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_PHASEPROGRESS_H
