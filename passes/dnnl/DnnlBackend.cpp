//===- DnnlBackend.cpp - oneDNN's primitives ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/dnnl/DnnlBackend.h"

#include "dialects/dnnl/DnnlDialect.h"
#include "passes/dnnl/DnnlLibrary.h"
#include "passes/dnnl/lower/OneDnnSupport.h"
#include "passes/dnnl/lower/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ingot;

static constexpr StringLiteral kTitle = "oneDNN";

namespace {

class DnnlBackend : public Backend {
  StringRef name() const override { return dnnl::kBackend; }
  StringRef title() const override { return kTitle; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<dnnl::DnnlDialect>();
    dnnl::registerBufferizableOpInterfaceExternalModels(registry);
  }
  void registerPasses() const override { registerIngotDnnlLowerPasses(); }

  bool isFor(Operation *op) const override { return dnnl::isOneDnnKind(op); }
  Reason whyNot(Operation *op) const override { return dnnl::whyNotOneDnn(op); }

  const Library *library() const override {
    static constexpr Library library{dnnl::kLibrary, kTitle, "libingot_dnnl.a",
                                     dnnl::kDnnlLibraryPath};
    return &library;
  }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &) const override {
    passes.addNestedPass<func::FuncOp>(createNNToDnnl());
    passes.addNestedPass<func::FuncOp>(createFusePostOps());
  }

  /// Create primitives in a phase that all CPU levels share.
  void buildMemory(OpPassManager &passes) const override {
    passes.addPass(createDnnlToCalls());
  }
};

} // namespace

const Backend &ingot::dnnl::getBackend() {
  static const DnnlBackend backend;
  return backend;
}
