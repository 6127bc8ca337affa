//===- DecisionTrace.cpp - what was decided, and why ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/DecisionTrace.h"

#include "compiler/Version.h"
#include "dialects/nn/NodeName.h"
#include "dialects/nn/NodeScope.h"
#include "passes/backend/Backend.h"
#include "passes/support/UserText.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace ingot;
using mlir::remark::detail::Remark;

/// The version of the file format. It increases with each change that existing
/// readers cannot handle.
static constexpr int64_t kVersion = 1;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

bool DecisionTrace::Less::operator()(const Key &a, const Key &b) const {
  const auto &left = std::get<0>(a), &right = std::get<0>(b);
  for (auto [one, other] : zip(left, right))
    if (int order = StringRef(one).compare_numeric(other))
      return order < 0;
  return left.size() != right.size() ? left.size() < right.size() : a < b;
}

/// Returns the operation's name for users: `conv` for `nn.conv`, `winograd
/// conv` for `cpu.winograd_conv`.
static std::string operationOf(StringRef name) {
  std::string words = name.split('.').second.str();
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

bool DecisionTrace::add(const Remark &remark) {
  DecisionAttr attr;
  Decision decision;
  decision.device = kCpu.name.str();
  std::vector<std::string> declined;
  for (const Remark::Arg &arg : remark.getArgs()) {
    if (arg.key == "Decision")
      attr = dyn_cast_or_null<DecisionAttr>(arg.getAttribute());
    else if (arg.key == "WhyNot")
      declined.push_back(toUserText(arg.val));
    else if (arg.key == "Sizes")
      decision.sizes = arg.val;
    else if (arg.key == "Device")
      decision.device = arg.val;
    else if (arg.key == "Level")
      decision.level = arg.val;
    else if (arg.key == "Profile")
      (void)to_integer(arg.val, decision.profile, 10);
  }
  if (!attr)
    return false;
  decision.operation = operationOf(remark.getRemarkName());
  SetVector<StringRef> nodes;
  forEachNode(remark.getLocation(),
              [&](mlir::StringAttr node) { nodes.insert(node.getValue()); });
  for (StringRef node : nodes)
    decision.nodes.push_back(node.str());
  decision.scope = nodeScopeOf(remark.getLocation());
  decision.question = attr.getQuestion();
  decision.choice = attr.getChoice().str();
  for (auto [i, one] : enumerate(attr.getAlternatives()))
    decision.alternatives.push_back(
        {one.getName().str(), one.getCycles(),
         i < declined.size() ? declined[i] : std::string()});
  decision.reason = toUserText(attr.getReason());
  Key key(decision.nodes, decision.question, decision.device, decision.level,
          decision.profile, decision.operation, decision.sizes);
  std::lock_guard<std::mutex> lock(mutex);
  decisions.insert_or_assign(std::move(key), std::move(decision));
  return true;
}

void DecisionTrace::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  decisions.clear();
}

std::vector<Decision> DecisionTrace::getDecisions() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Decision> all;
  for (const auto &[key, decision] : decisions)
    all.push_back(decision);
  return all;
}

namespace {

class Streamer : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  Streamer(DecisionTrace &trace, RemarkReader other)
      : trace(trace), other(std::move(other)) {}

  void streamOptimizationRemark(const Remark &remark) override {
    if (!trace.add(remark) && other)
      other(remark);
  }

private:
  DecisionTrace &trace;
  RemarkReader other;
};

} // namespace

void ingot::readRemarks(mlir::MLIRContext &context, DecisionTrace &trace,
                        RemarkReader other) {
  mlir::remark::RemarkCategories categories;
  categories.missed = categories.passed = "^(prune|zeros)$";
  categories.analysis = ("^(zeros|" + kDecisionCategory + ")$").str();
  // Fails only if the context has an engine already.
  (void)mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<Streamer>(trace, std::move(other)),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

//===----------------------------------------------------------------------===//
// Output for programs
//===----------------------------------------------------------------------===//

static json::Value orNull(StringRef text) {
  return text.empty() ? json::Value(nullptr) : json::Value(json::fixUTF8(text));
}

static json::Value toJson(const Decision &decision) {
  json::Array nodes, alternatives;
  for (const std::string &node : decision.nodes)
    nodes.push_back(json::fixUTF8(node));
  for (const Alternative &one : decision.alternatives)
    alternatives.push_back(json::Object{
        {"name", json::fixUTF8(one.name)},
        {"cycles", one.cycles < 0 ? json::Value(nullptr) : one.cycles}});
  return json::Object{{"nodes", std::move(nodes)},
                      {"scope", orNull(decision.scope)},
                      {"operation", decision.operation},
                      {"sizes", orNull(decision.sizes)},
                      {"question", stringifyQuestion(decision.question)},
                      {"choice", json::fixUTF8(decision.choice)},
                      {"alternatives", std::move(alternatives)},
                      {"reason", json::fixUTF8(decision.reason)},
                      {"device", decision.device},
                      {"level", orNull(decision.level)},
                      {"profile", decision.profile
                                      ? json::Value(decision.profile)
                                      : json::Value(nullptr)}};
}

std::string DecisionTrace::toJson(const DecisionsHead &head) const {
  json::Value options = json::Array();
  if (!head.options.empty())
    options = cantFail(json::parse(head.options));
  json::Array rows;
  for (const Decision &decision : getDecisions())
    rows.push_back(::toJson(decision));
  json::Object root{{"ingot_decisions", kVersion},
                    {"compiler", "ingot " INGOT_VERSION},
                    {"model", json::fixUTF8(head.model)},
                    {"options", std::move(options)},
                    {"decisions", std::move(rows)}};
  return formatv("{0:2}\n", json::Value(std::move(root)));
}

std::map<std::vector<std::string>, LayerPrecision>
ingot::precisionsOf(const std::vector<Decision> &decisions) {
  std::map<std::vector<std::string>, LayerPrecision> layers;
  for (const Decision &decision : decisions) {
    if (decision.question != Question::precision)
      continue;
    LayerPrecision &layer = layers[decision.nodes];
    layer.isNarrow |= decision.choice != "float32";
    layer.decision = &decision;
  }
  return layers;
}

//===----------------------------------------------------------------------===//
// Output for people
//===----------------------------------------------------------------------===//

bool ingot::isRemarkable(const Decision &decision) {
  switch (decision.question) {
  case Question::backend:
    return decision.alternatives.size() > 1;
  // A decision about precision is recorded only if the user wants another
  // precision.
  case Question::precision:
    return decision.choice == "float32";
  case Question::winograd:
    return decision.choice != "direct";
  case Question::layout:
    return decision.choice != "channels last";
  // Every kernel has such decisions.
  case Question::packing:
  case Question::padding:
  case Question::schedule:
  case Question::scales:
    return false;
  }
  return false;
}

std::vector<std::string> ingot::describe(const Decision &decision) {
  std::vector<std::string> lines;
  if (decision.question == Question::backend) {
    for (const Alternative &one : decision.alternatives)
      if (!one.reason.empty())
        lines.push_back("'" + one.name + "' does not compute it: it " +
                        one.reason);
    return lines;
  }
  std::string line =
      (stringifyQuestion(decision.question) + ": " + decision.choice +
       ", because the " + decision.operation + " " + decision.reason)
          .str();
  if (decision.device != kCpu.name)
    line += " (" + decision.device + ")";
  else if (!decision.level.empty())
    line += " (" + decision.level + ")";
  return {line};
}
