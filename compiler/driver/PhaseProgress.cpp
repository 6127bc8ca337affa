//===- PhaseProgress.cpp - how far a compilation is -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/PhaseProgress.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace ingot;

namespace {

/// A step, and its usual percentage of the time of a compilation for one CPU
/// level, as measured by `--timing`.
struct Weight {
  llvm::StringLiteral step;
  double percent;
};

/// Reports each pass that has run on the module.
class PassCounter : public PassInstrumentation {
public:
  PassCounter(PhaseProgress &progress, size_t number)
      : progress(progress), number(double(std::max<size_t>(1, number))) {}

  void runAfterPass(Pass *, Operation *op) override {
    // Passes on functions are part of a pass on the module, so do not count
    // them.
    if (isa<ModuleOp>(op) && !op->getParentOp())
      progress.advance(std::min(++done / number, 1.0));
  }

private:
  PhaseProgress &progress;
  double number, done = 0;
};

} // namespace

static constexpr Weight kWeights[] = {
    {"import", 8}, {"nn", 1},     {"graph", 4},  {"quantize", 1},
    {"layout", 1}, {"linalg", 8}, {"memory", 1}, {"kernels", 1},
    {"llvm", 18},  {"code", 50},  {"link", 7},
};

static double weightOf(StringRef step) {
  const auto *found = llvm::find_if(
      kWeights, [&](const Weight &weight) { return weight.step == step; });
  return found == std::end(kWeights) ? 0 : found->percent;
}

void PhaseProgress::setLevels(size_t number) {
  const bool isText = options.emit == EmitKind::mlir;
  total = weightOf("import");
  bool isDone = isText && options.lastPhase.empty();
  for (const Phase &phase : getPhases()) {
    if (isDone)
      break;
    total += weightOf(phase.name) * (phase.dependsOnLevel ? number : 1);
    isDone = isText && options.lastPhase == phase.name;
  }
  if (!isText)
    total += weightOf("code") * number;
  if (options.emit == EmitKind::sharedLibrary)
    total += weightOf("link");
}

void PhaseProgress::start(StringRef name, const Twine &text) {
  done += weight;
  weight = weightOf(name);
  share = 0;
  description = text.str();
  tell();
}

void PhaseProgress::advance(double newShare) {
  share = newShare;
  tell();
}

void PhaseProgress::finishCode() {
  std::lock_guard<std::mutex> lock(mutex);
  ++codes;
  changed.notify_all();
}

void PhaseProgress::waitForCode(size_t number) {
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, std::chrono::milliseconds(100),
                           [&] { return codes >= number; })) {
    lock.unlock();
    tell();
    lock.lock();
  }
}

void PhaseProgress::tell() {
  double sum = done + share * weight;
  {
    std::lock_guard<std::mutex> lock(mutex);
    sum += double(codes) * weightOf("code");
  }
  told = std::max(told, std::min(sum / total, 1.0));
  options.progress.step(description, told);
}

void PhaseProgress::watch(PassManager &passes, MLIRContext &context) {
  if (options.progress.onStep)
    passes.addInstrumentation(
        std::make_unique<PassCounter>(*this, passes.size()));
  // The handler is called for each pattern, too, which takes time. So set it
  // only if the caller can cancel.
  if (options.progress.isCancelled)
    context.registerActionHandler(
        [this](function_ref<void()> act, const tracing::Action &action) {
          if (!isa<PassExecutionAction>(action) || !isCancelled())
            act();
        });
}

void PhaseProgress::unwatch(MLIRContext &context) {
  if (options.progress.isCancelled)
    context.registerActionHandler(nullptr);
}
