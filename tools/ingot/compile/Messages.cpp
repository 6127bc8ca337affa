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

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;
using namespace llvm;

/// Prints one line about the nodes `where` in the module `scope`.
static void printMessage(StringRef severity, StringRef where, StringRef scope,
                         StringRef text, StringRef model,
                         StringRef command = "compile") {
  errs() << "ingot " << command << ": " << severity << ": ";
  // The location of a module is its file; those of ops are node names.
  if (!where.empty()) {
    StringRef name = sys::path::filename(model);
    errs() << printable(name) << ": ";
    if (where != name)
      errs() << "node '" << printable(where) << "'"
             << (scope.empty() ? "" : " (" + printable(scope) + ")") << ": ";
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
  printMessage(severity, nodeNameOf(diagnostic.getLocation()),
               nodeScopeOf(diagnostic.getLocation()), diagnostic.str(), model,
               command);
}

void ingot::printRemark(const mlir::remark::detail::Remark &remark,
                        StringRef model) {
  std::string reason;
  for (const mlir::remark::detail::Remark::Arg &arg : remark.getArgs())
    if (arg.key == "Reason")
      reason = toUserText(arg.val);
  std::string scope = nodeScopeOf(remark.getLocation());
  printMessage("remark", nodeNameOf(remark.getLocation()), scope, reason,
               model);
}

void ingot::printDecisions(const DecisionTrace &trace, StringRef model) {
  for (const Decision &decision : trace.getDecisions())
    if (isRemarkable(decision))
      for (const std::string &line : describe(decision))
        printMessage("remark", join(decision.nodes, " + "), decision.scope,
                     line, model);
}
