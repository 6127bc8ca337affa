//===- AttachTargets.cpp - ingot-attach-targets ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Passes.h"
#include "passes/support/TargetNumbers.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_ATTACHTARGETS
#include "passes/support/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct AttachTargetsPass : ingot::impl::AttachTargetsBase<AttachTargetsPass> {
  using AttachTargetsBase::AttachTargetsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetNumbers> parsed = parseTargetNumbers(module, numbers);
    if (failed(parsed))
      return signalPassFailure();
    auto emitError = [&] { return module.emitError(); };
    SmallVector<TargetAttr> sure, further;
    auto add = [&](ArrayRef<std::string> names, SmallVector<TargetAttr> &to) {
      return llvm::all_of(names, [&](StringRef name) {
        to.push_back(
            TargetAttr::getChecked(emitError, &getContext(), name, *parsed));
        return to.back() != nullptr;
      });
    };
    if (!add(levels, sure) || !add(may, further))
      return signalPassFailure();
    auto targets =
        TargetsAttr::getChecked(emitError, &getContext(), StringRef(device),
                                ArrayRef(sure), ArrayRef(further));
    if (!targets)
      return signalPassFailure();
    IngotDialect::TargetsAttrHelper(&getContext()).setAttr(module, targets);
  }
};

} // namespace
