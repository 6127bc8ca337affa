//===- AttachTarget.cpp - ingot-attach-target -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Passes.h"
#include "passes/support/TargetNumbers.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_ATTACHTARGET
#include "passes/support/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct AttachTargetPass : ingot::impl::AttachTargetBase<AttachTargetPass> {
  using AttachTargetBase::AttachTargetBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetNumbers> parsed = parseTargetNumbers(module, numbers);
    if (failed(parsed))
      return signalPassFailure();
    auto target =
        TargetAttr::getChecked([&] { return module.emitError(); },
                               &getContext(), StringRef(level), *parsed);
    if (!target)
      return signalPassFailure();
    IngotDialect::TargetAttrHelper(&getContext()).setAttr(module, target);
  }
};

} // namespace
