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
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {
#define GEN_PASS_DEF_ASSIGNBACKENDS
#include "passes/backend/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// A backend that declined the op, and its reason.
struct Declining {
  const Backend *backend;
  std::string reason;
};

struct AssignBackendsPass
    : ingot::impl::AssignBackendsBase<AssignBackendsPass> {
  using AssignBackendsBase::AssignBackendsBase;

  LogicalResult initialize(MLIRContext *) override;
  void runOnOperation() override;

private:
  const Backend *find(StringRef name);
  LogicalResult assign(Operation *op);
  void decide(Operation *op, const Backend &choice,
              ArrayRef<Declining> declining);

  ArrayRef<const Backend *> all;
  SmallVector<const Backend *> order;
  /// The backend that computes all ops that the other backends of the device
  /// decline, or null.
  const Backend *rest = nullptr;
  llvm::StringSet<> wanted, found;
  SmallVector<Attribute> declined;
};

} // namespace

const Backend *AssignBackendsPass::find(StringRef name) {
  const auto *at = llvm::find_if(
      all, [&](const Backend *backend) { return backend->name() == name; });
  return at == all.end() ? nullptr : *at;
}

LogicalResult AssignBackendsPass::initialize(MLIRContext *context) {
  all = BackendList::of(context);
  order.clear();
  rest = nullptr;
  SmallVector<StringRef> names(backends.begin(), backends.end());
  if (!preferred.empty() || !preferredNodes.empty())
    names.push_back(preferred);
  for (StringRef name : names)
    if (!find(name)) {
      InFlightDiagnostic error = emitError(UnknownLoc::get(context))
                                 << "no backend is called '" << name
                                 << "': use one of ";
      llvm::interleaveComma(all, error, [&](const Backend *backend) {
        error << backend->name();
      });
      return error;
    }
  for (const std::string &name : backends)
    order.push_back(find(name));
  for (const Backend *backend : all)
    if (backend->takesRest() && !order.empty() &&
        backend->device() == order.front()->device())
      rest = backend;
  return success();
}

static std::string joinReasons(ArrayRef<Declining> declining) {
  return llvm::join(
      llvm::map_range(declining,
                      [](const Declining &one) {
                        return (one.backend->name() + ": " + one.reason).str();
                      }),
      "; ");
}

/// Assigns `op` to `choice`, after the backends in `declining` declined it. The
/// report of layers reads the reasons from `ingot.declined`, the decision trace
/// reads them from a remark.
void AssignBackendsPass::decide(Operation *op, const Backend &choice,
                                ArrayRef<Declining> declining) {
  IngotDialect::BackendAttrHelper(&getContext())
      .setAttr(op, BackendNameAttr::get(&getContext(), choice.name()));
  for (const Declining &one : declining) {
    ++numDeclined;
    forEachNode(op->getLoc(), [&](StringAttr node) {
      declined.push_back(DeclinedAttr::get(&getContext(), node,
                                           one.backend->name(), one.reason));
    });
  }
  if (!isRecorded(op))
    return;
  SmallVector<Alternative> alternatives;
  for (const Declining &one : declining)
    alternatives.push_back({one.backend->name().str(), -1, one.reason});
  alternatives.push_back({choice.name().str()});
  record(op, Question::backend, choice.name(),
         declining.empty() ? "is computed by the first backend that is asked"
                           : joinReasons(declining),
         alternatives);
}

LogicalResult AssignBackendsPass::assign(Operation *op) {
  SmallVector<const Backend *> asked(order);
  forEachNode(op->getLoc(), [&](StringAttr node) {
    if (!wanted.contains(node))
      return;
    found.insert(node);
    const Backend *first = find(preferred);
    if (!llvm::is_contained(asked, first))
      asked.insert(asked.begin(), first);
  });
  IngotDialect::BackendAttrHelper backendOf(&getContext());
  // A test or a tool may have assigned a backend already.
  if (BackendNameAttr given = backendOf.getAttr(op)) {
    if (find(given.getValue()))
      return success();
    return op->emitError() << "no backend is called '" << given.getValue()
                           << "'";
  }
  SmallVector<Declining> declining;
  for (const Backend *backend : asked) {
    if (!backend->isFor(op))
      continue;
    Reason reason = backend->whyNot(op);
    if (!reason) {
      decide(op, *backend, declining);
      return success();
    }
    declining.push_back({backend, *reason});
  }
  if (declining.empty())
    return success();
  if (rest) {
    decide(op, *rest, declining);
    return success();
  }
  return op->emitError() << "no backend of device '"
                         << asked.front()->device().name
                         << "' computes it: " << joinReasons(declining);
}

void AssignBackendsPass::runOnOperation() {
  wanted.clear();
  found.clear();
  declined.clear();
  for (const std::string &node : preferredNodes)
    wanted.insert(node);
  bool areAssigned = true;
  getOperation().walk([&](Operation *op) {
    if (isa_and_present<nn::NNDialect>(op->getDialect()))
      areAssigned &= succeeded(assign(op));
  });
  if (!areAssigned)
    return signalPassFailure();
  for (const std::string &node : preferredNodes)
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
