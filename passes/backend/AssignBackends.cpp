//===- AssignBackends.cpp - nn-assign-backends ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/NodeName.h"
#include "passes/backend/Backend.h"
#include "passes/backend/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {
#define GEN_PASS_DEF_ASSIGNBACKENDS
#include "passes/backend/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct AssignBackendsPass
    : ingot::impl::AssignBackendsBase<AssignBackendsPass> {
  using AssignBackendsBase::AssignBackendsBase;

  LogicalResult initialize(MLIRContext *) override;
  void runOnOperation() override;

private:
  void assign(Operation *op);
  void decline(Operation *op, BackendKind backend, const std::string &reason);

  SmallVector<const Backend *> order;
  llvm::StringSet<> wanted, found;
  SmallVector<Attribute> declined;
};

} // namespace

LogicalResult AssignBackendsPass::initialize(MLIRContext *context) {
  order.clear();
  for (const std::string &name : backends) {
    std::optional<BackendKind> kind = symbolizeBackendKind(name);
    if (!kind) {
      InFlightDiagnostic error = emitError(UnknownLoc::get(context))
                                 << "no backend is called '" << name
                                 << "': use one of ";
      llvm::interleaveComma(getBackends(), error, [&](const Backend *backend) {
        error << stringifyBackendKind(backend->kind());
      });
      return error;
    }
    order.push_back(&getBackend(*kind));
  }
  return success();
}

void AssignBackendsPass::decline(Operation *op, BackendKind backend,
                                 const std::string &reason) {
  forEachNode(op->getLoc(), [&](StringAttr node) {
    declined.push_back(
        DeclinedAttr::get(&getContext(), node, backend, reason));
  });
  ++numDeclined;
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name(stringifyBackendKind(backend))
                     .category("backend"))
      << remark::reason("{0}", reason);
}

void AssignBackendsPass::assign(Operation *op) {
  SmallVector<const Backend *> asked(order);
  forEachNode(op->getLoc(), [&](StringAttr node) {
    if (!wanted.contains(node))
      return;
    found.insert(node);
    const Backend *first = &getBackend(BackendKind::onednn);
    if (!llvm::is_contained(asked, first))
      asked.insert(asked.begin(), first);
  });
  IngotDialect::BackendAttrHelper backendOf(&getContext());
  // What was said before stays, so that a test or a tool can say it.
  if (backendOf.getAttr(op))
    return;
  bool isHeavy = false;
  for (const Backend *backend : asked) {
    if (!backend->isFor(op))
      continue;
    isHeavy = true;
    Reason reason = backend->whyNot(op);
    if (!reason) {
      backendOf.setAttr(op, BackendKindAttr::get(&getContext(),
                                                 backend->kind()));
      return;
    }
    decline(op, backend->kind(), *reason);
  }
  if (isHeavy)
    backendOf.setAttr(op,
                      BackendKindAttr::get(&getContext(), BackendKind::loops));
}

void AssignBackendsPass::runOnOperation() {
  wanted.clear();
  found.clear();
  declined.clear();
  for (const std::string &node : onednnNodes)
    wanted.insert(node);
  getOperation().walk([&](Operation *op) {
    if (isa_and_present<nn::NNDialect>(op->getDialect()))
      assign(op);
  });
  for (const std::string &node : onednnNodes)
    if (!found.contains(node)) {
      getOperation().emitError()
          << "kernels were chosen for another model: no operation computes "
             "node '"
          << node << "'";
      return signalPassFailure();
    }
  if (!declined.empty())
    IngotDialect::DeclinedAttrHelper(&getContext())
        .setAttr(getOperation(), ArrayAttr::get(&getContext(), declined));
}
