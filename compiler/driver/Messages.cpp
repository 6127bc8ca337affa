//===- Messages.cpp - messages of a compilation ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Messages.h"

#include "dialects/nn/NodeName.h"
#include "dialects/nn/NodeScope.h"
#include "passes/support/UserText.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace ingot;
using namespace llvm;

using Operators = StringMap<std::string>;

/// Returns the operators of nodes, joined by " + "; "" if none is known.
static std::string operatorsOf(ArrayRef<std::string> nodes,
                               const Operators &operators) {
  SetVector<StringRef> found;
  for (const std::string &node : nodes)
    if (auto known = operators.find(node); known != operators.end())
      found.insert(known->second);
  return join(found, " + ");
}

/// Returns a message about the nodes of a location. Its text is still empty.
static Message messageAt(mlir::Location location, StringRef model,
                         const Operators &operators) {
  Message message;
  std::string node = nodeNameOf(location);
  if (node.empty())
    return message;
  message.file = model.str();
  // The location of a module is its file. The locations of ops are names of
  // nodes.
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

/// Sets file, node and operator of an error of the import. Its text begins with
/// the file, and may go on with `node 'NAME' (OPERATOR): `.
static void readImportError(Message &message, StringRef model) {
  StringRef text = message.text;
  if (!text.consume_front(printable(model, 300) + ": "))
    return;
  message.file = model.str();
  message.text = text.str();
  auto [node, rest] = StringRef(message.text).split("' (");
  if (!node.consume_front("node '") || !rest.contains("): "))
    return;
  message.node = node.str();
  message.op = rest.split("): ").first.str();
}

Message ingot::toMessage(mlir::Diagnostic &diagnostic, StringRef model,
                         const Operators &operators) {
  Message message = messageAt(diagnostic.getLocation(), model, operators);
  message.severity = severityOf(diagnostic.getSeverity());
  message.text = diagnostic.str();
  if (isa<mlir::UnknownLoc>(diagnostic.getLocation()))
    readImportError(message, model);
  // A note tells a way out.
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    message.hint += (message.hint.empty() ? "" : "; ") + note.str();
  return message;
}

Message ingot::toMessage(const mlir::remark::detail::Remark &remark,
                         StringRef model, const Operators &operators) {
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
        message.op = operatorsOf(decision.nodes, operators);
        message.scope = decision.scope;
        message.text = std::move(line);
        messages.push_back(std::move(message));
      }
  return messages;
}
