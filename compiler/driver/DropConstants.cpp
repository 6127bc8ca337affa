//===- DropConstants.cpp - memory of constants during a compilation -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FreeMemory.h"
#include "compiler/driver/Compilation.h"
#include "dialects/nn/UnusedConstants.h"

#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace ingot;

namespace {

/// Calls a function after each pass on the whole module.
class AfterPasses : public PassInstrumentation {
public:
  explicit AfterPasses(std::function<void(ModuleOp)> act)
      : act(std::move(act)) {}

  void runAfterPass(Pass *, Operation *op) override {
    if (auto module = dyn_cast<ModuleOp>(op); module && !module->getParentOp())
      act(module);
  }

private:
  std::function<void(ModuleOp)> act;
};

} // namespace

/// Frees constants after each of `passes`. Several passes of a phase may each
/// replace all weights.
void Compilation::dropConstantsAfter(PassManager &passes) {
  passes.addInstrumentation(std::make_unique<AfterPasses>(
      [this](ModuleOp current) { dropConstants(current); }));
}

/// Frees constants that the last pass or phase has replaced. Finding them takes
/// a walk over the module, which few constants are not worth.
void Compilation::dropConstants(ModuleOp current) {
  // Freed memory that is smaller is soon used again.
  constexpr uint64_t kLeastBytes = uint64_t(16) << 20;
  // Copies for a device or a level share the constants.
  if (current != module.get() || deviceModule ||
      nn::bytesOfConstants(&context) < kLeastBytes)
    return;
  if (nn::dropUnusedConstants(current) >= kLeastBytes)
    returnFreeMemory();
}
