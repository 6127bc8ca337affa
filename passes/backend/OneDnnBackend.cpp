//===- OneDnnBackend.cpp - oneDNN's primitives ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "passes/backend/Backend.h"
#include "passes/dnnl/lower/OneDnnSupport.h"
#include "passes/dnnl/lower/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ingot;

namespace {

class OneDnnBackend : public Backend {
  BackendKind kind() const override { return BackendKind::onednn; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<dnnl::DnnlDialect>();
    dnnl::registerBufferizableOpInterfaceExternalModels(registry);
  }

  bool isFor(Operation *op) const override { return dnnl::isOneDnnKind(op); }
  Reason whyNot(Operation *op) const override { return dnnl::whyNotOneDnn(op); }

  bool computes(Operation *op) const override {
    return isa_and_present<dnnl::DnnlDialect>(op->getDialect());
  }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &) const override {
    passes.addNestedPass<func::FuncOp>(createNNToDnnl());
    passes.addNestedPass<func::FuncOp>(createFusePostOps());
  }

  // Its primitives are made once, whatever the CPU level.
  void buildMemory(OpPassManager &passes) const override {
    passes.addPass(createDnnlToCalls());
  }
};

} // namespace

const Backend &ingot::oneDnnBackend() {
  static const OneDnnBackend backend;
  return backend;
}
