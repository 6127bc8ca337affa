//===- LoopsBackend.cpp - what linalg says --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/LoopsBackend.h"

#include "dialects/kernel/KernelInterfaces.h"
#include "passes/loops/Passes.h"
#include "passes/shape/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

namespace {

/// Computes every op that no other backend took, so it is never asked.
class LoopsBackend : public Backend {
  StringRef name() const override { return kernel::kLoopsBackend; }
  bool takesRest() const override { return true; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<linalg::LinalgDialect>();
    linalg::registerAllDialectInterfaceImplementations(registry);
  }

  void registerPasses() const override { registerIngotLoopsPasses(); }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &) const override {
    loops::buildLower(passes);
  }

  void buildLowered(OpPassManager &passes,
                    const BackendOptions &) const override {
    passes.addPass(createFillSplats());
    passes.addPass(createRelaxReductions());
  }

  void buildKernels(OpPassManager &passes,
                    const BackendOptions &) const override {
    passes.addPass(createSpecializeLoops());
    passes.addPass(createCollapseLoops());
    passes.addPass(createOutlineLinalg());
  }
};

} // namespace

void ingot::loops::buildLower(OpPassManager &passes) {
  passes.addPass(createNNToLinalg());
  passes.addPass(createCanonicalize());
  // Remove checks of values that have become constant.
  passes.addNestedPass<func::FuncOp>(createRefuteChecks());
  passes.addPass(createCSEPass());
  passes.addPass(createFuseElementwise());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
}

const Backend &ingot::loops::getBackend() {
  static const LoopsBackend backend;
  return backend;
}
