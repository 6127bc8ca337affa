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

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace ingot;
using namespace llvm;

using Operators = StringMap<std::string>;

/// Returns the operators of nodes, joined by " + "; "" if none is known.
static std::string operatorsOf(ArrayRef<std::string> nodes,
                               const Operators *operators) {
  SetVector<StringRef> found;
  for (const std::string &node : nodes)
    if (operators)
      if (auto known = operators->find(node); known != operators->end())
        found.insert(known->second);
  return join(found, " + ");
}

/// Returns a message about the nodes of a location, without its text.
static Message messageAt(mlir::Location location, StringRef model,
                         const Operators *operators) {
  Message message;
  std::string node = nodeNameOf(location);
  if (node.empty())
    return message;
  message.file = model.str();
  // The location of a module is its file; those of ops are node names.
  if (node == sys::path::filename(model))
    return message;
  std::vector<std::string> nodes;
  forEachNode(location,
              [&](mlir::StringAttr name) { nodes.push_back(name.str()); });
  message.op = operatorsOf(nodes, operators);
  message.scope = nodeScopeOf(location);
  message.node = std::move(node);
  return message;
}

static Severity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Severity::error;
  case mlir::DiagnosticSeverity::Warning:
    return Severity::warning;
  case mlir::DiagnosticSeverity::Remark:
    return Severity::remark;
  case mlir::DiagnosticSeverity::Note:
    return Severity::note;
  }
  llvm_unreachable("unknown severity");
}

Message ingot::toMessage(mlir::Diagnostic &diagnostic, StringRef model,
                         const Operators *operators) {
  Message message = messageAt(diagnostic.getLocation(), model, operators);
  message.severity = severityOf(diagnostic.getSeverity());
  message.text = diagnostic.str();
  // A note tells a way out.
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    message.hint += (message.hint.empty() ? "" : "; ") + note.str();
  return message;
}

Message ingot::toMessage(const mlir::remark::detail::Remark &remark,
                         StringRef model, const Operators *operators) {
  Message message = messageAt(remark.getLocation(), model, operators);
  message.severity = Severity::remark;
  for (const mlir::remark::detail::Remark::Arg &arg : remark.getArgs())
    if (arg.key == "Reason")
      message.text = toUserText(arg.val);
  return message;
}

std::vector<Message> ingot::remarksOf(const DecisionTrace &trace,
                                      StringRef model,
                                      const Operators &operators) {
  std::vector<Message> messages;
  for (const Decision &decision : trace.getDecisions())
    if (isRemarkable(decision))
      for (std::string &line : describe(decision)) {
        Message message;
        message.severity = Severity::remark;
        message.file = decision.nodes.empty() ? "" : model.str();
        message.node = join(decision.nodes, " + ");
        message.op = operatorsOf(decision.nodes, &operators);
        message.scope = decision.scope;
        message.text = std::move(line);
        messages.push_back(std::move(message));
      }
  return messages;
}

void ingot::print(tools::Console &console, Message message) {
  // A terminal shows names that the model's author chose, so escape them.
  if (!console.isJson()) {
    message.file = printable(sys::path::filename(message.file));
    message.node = printable(message.node);
    message.scope = printable(message.scope);
    message.text = oneLine(message.text, 2000);
    message.hint = oneLine(message.hint);
  }
  console.message(message);
}

void ingot::printDiagnostic(mlir::Diagnostic &diagnostic, StringRef model,
                            StringRef command) {
  tools::Console console(command.str());
  print(console, toMessage(diagnostic, model));
}
