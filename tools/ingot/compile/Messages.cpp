//===- Messages.cpp - what a compilation says -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/Messages.h"

#include "passes/support/UserText.h"
#include "dialects/nn/NodeName.h"
#include "dialects/nn/NodeScope.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;
using namespace llvm;

static void printMessage(StringRef severity, mlir::Location location,
                         StringRef text, StringRef model,
                         StringRef command = "compile") {
  errs() << "ingot " << command << ": " << severity << ": ";
  std::string where = nodeNameOf(location), scope = nodeScopeOf(location);
  if (!scope.empty())
    scope = " (" + printable(scope) + ")";
  // The module has the name of the file, ops those of nodes.
  if (!where.empty()) {
    StringRef name = sys::path::filename(model);
    errs() << printable(name) << ": ";
    if (where != name)
      errs() << "node '" << printable(where) << "'" << scope << ": ";
  }
  errs() << oneLine(text.str(), 2000) << '\n';
}

void ingot::printDiagnostic(mlir::Diagnostic &diagnostic, StringRef model,
                            StringRef command) {
  StringRef severity =
      diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ? "error"
      : diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning
          ? "warning"
      : diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark
          ? "remark"
          : "note";
  printMessage(severity, diagnostic.getLocation(), diagnostic.str(), model,
               command);
}

namespace {

class Printer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Printer(const std::string &model) : model(model) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    std::string reason;
    for (const mlir::remark::detail::Remark::Arg &arg : remark.getArgs())
      if (arg.key == "Reason")
        reason = toUserText(arg.val);
    if (remark.getCategoryName() == "backend")
      reason = ("'" + remark.getRemarkName() + "' does not compute it: it " +
                reason)
                   .str();
    printMessage("remark", remark.getLocation(), reason, model);
  }

private:
  std::string model;
};

} // namespace

void ingot::printRemarks(mlir::MLIRContext &context, const std::string &model) {
  mlir::remark::RemarkCategories categories;
  categories.missed = "^(backend|prune|zeros)$";
  categories.passed = "^(prune|zeros)$";
  categories.analysis = "^zeros$";
  // Fails only if the context has an engine already.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<Printer>(model),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}
