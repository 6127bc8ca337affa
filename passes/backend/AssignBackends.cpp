//===- AssignBackends.cpp - nn-assign-backends ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "passes/backend/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {
#define GEN_PASS_DEF_ASSIGNBACKENDS
#include "passes/backend/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct AssignBackendsPass : ingot::impl::AssignBackendsBase<AssignBackendsPass> {
  using AssignBackendsBase::AssignBackendsBase;

  void runOnOperation() override {
    llvm::StringSet<> wanted, found;
    for (const std::string &node : onednn)
      wanted.insert(node);
    IngotDialect::BackendAttrHelper backend(&getContext());
    getOperation().walk([&](Operation *op) {
      if (!isa_and_present<nn::NNDialect>(op->getDialect()))
        return;
      bool isWanted = false;
      op->getLoc()->walk([&](Location part) {
        if (auto named = dyn_cast<NameLoc>(part))
          if (wanted.contains(named.getName())) {
            isWanted = true;
            found.insert(named.getName());
          }
        return WalkResult::advance();
      });
      backend.setAttr(op, BackendAttr::get(&getContext(), isWanted
                                                              ? Backend::onednn
                                                              : Backend::native));
    });
    for (const std::string &node : onednn)
      if (!found.contains(node)) {
        getOperation().emitError()
            << "kernels were chosen for another model: no operation computes "
               "node '"
            << node << "'";
        return signalPassFailure();
      }
  }
};

} // namespace
