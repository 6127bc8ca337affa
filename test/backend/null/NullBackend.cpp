//===- NullBackend.cpp - a backend for tests --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/backend/null/NullBackend.h"

#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ingot;

static constexpr Device kNullDevice{"nowhere"};

namespace {

class NullBackend : public Backend {
  StringRef name() const override { return "null"; }
  const Device &device() const override { return kNullDevice; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<null::NullDialect>();
    null::registerBufferizableOpInterfaceExternalModels(registry);
  }
  void registerPasses() const override { registerIngotNullPasses(); }

  /// Takes every op that computes tensors, because the device has no other
  /// backend.
  bool isFor(Operation *op) const override { return op->getNumResults() == 1; }
  Reason whyNot(Operation *op) const override {
    if (!isa<nn::ReluOp>(op))
      return "is not an nn.relu";
    return whyNotFloat32(op);
  }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &) const override {
    passes.addNestedPass<func::FuncOp>(createNNToNull());
  }
};

} // namespace

const Backend &null::getBackend() {
  static const NullBackend backend;
  return backend;
}
