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

static constexpr DeviceLevel kLevels[] = {{1, true}, {2, false}};

/// The runtime does not know the number of the device.
static constexpr Emission kEmission{/*device=*/1000,
                                    1u << INGOT_ABI_MEMORY_HOST,
                                    /*flags=*/0,
                                    /*functions=*/"",
                                    /*runner=*/"ingot_support_run",
                                    /*stringFunctions=*/"ingot_support_",
                                    /*addsLoad=*/false,
                                    null::kRecord};

static constexpr Device kNullDevice{
    "nowhere",  "test devices", /*hasOwnMemory=*/false,
    "nowhere_", kLevels,   kEmission};

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
  void buildCodegen(OpPassManager &passes,
                    const BackendOptions &) const override {
    passes.addPass(createNullToLinalg());
  }
};

} // namespace

const Backend &null::getBackend() {
  static const NullBackend backend;
  return backend;
}
