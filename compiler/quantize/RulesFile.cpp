//===- RulesFile.cpp - precision and method by name -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/RulesFile.h"

#include "base/InputFile.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/Rules.h"
#include "passes/support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::quantize;

static constexpr int64_t kVersion = 1;
static constexpr StringLiteral kVersionKey("ingot_rules");
/// Limit on the file size, far above any real file.
static constexpr uint64_t kMostBytes = 16 << 20;

/// Returns the nodes in a tensor's name. The form of the name is `NODE +
/// NODE:RESULT#COUNT`. `:RESULT` is only there if the tensor is not the first
/// result, `#COUNT` only if the name would not be unique.
static SmallVector<StringRef> nodesOfTensor(StringRef name) {
  auto dropNumber = [](StringRef text, char mark) {
    auto [head, digits] = text.rsplit(mark);
    const bool isNumber = !digits.empty() && all_of(digits, isDigit);
    return isNumber && !head.empty() ? head : text;
  };
  SmallVector<StringRef> nodes;
  dropNumber(dropNumber(name, '#'), ':').split(nodes, " + ");
  return nodes;
}

bool Rule::fitsTensor(StringRef name) const {
  // The pattern was checked when it was read.
  const GlobPattern glob = cantFail(GlobPattern::create(pattern));
  auto fits = [&](StringRef text) { return glob.match(text); };
  return fits(name) || any_of(nodesOfTensor(name), fits);
}

/// Checks the keys of `object`. Returns "", or an error about an unknown key.
/// `what` is the subject of "has" in the error: "no rule".
static std::string unknownKey(const json::Object &object, StringRef what,
                              ArrayRef<StringRef> known) {
  for (const auto &entry : object)
    if (!is_contained(known, StringRef(entry.first)))
      return "has a key \"" + printable(StringRef(entry.first)) + "\" that " +
             what.str() + " has: use " + join(known, ", ");
  return "";
}

/// Parses a rule. Returns "", or an error text that continues the rule's name.
static std::string parseRule(const json::Object &object, Rule &rule) {
  if (std::string wrong =
          unknownKey(object, "no rule",
                     {"name", "precision", "method", "percentile"});
      !wrong.empty())
    return wrong;
  auto isString = [&](StringRef key) {
    return !object.get(key) || object.getString(key);
  };
  for (StringRef key : {"precision", "method"})
    if (!isString(key))
      return "has a \"" + key.str() + "\" that is not a string";
  rule.precision = object.getString("precision").value_or("").str();
  if (object.get("precision") && !isPrecisionOfRule(rule.precision))
    return "has precision '" + printable(rule.precision) + "': use " +
           precisionsOfRules();
  if (std::optional<StringRef> name = object.getString("method")) {
    std::optional<Method> method = findMethod(name->str());
    if (!method)
      return "has method '" + printable(*name) + "': use " + methodNames();
    rule.method = {*method};
  }
  if (const json::Value *value = object.get("percentile")) {
    if (!rule.method || rule.method->method != Method::percentile)
      return "has a \"percentile\", which is for method percentile";
    rule.method->percentile = value->getAsNumber().value_or(0);
    if (!isPercentile(rule.method->percentile))
      return "has a \"percentile\" that is not above 50 and at most 100";
  }
  if (rule.precision.empty() && !rule.method)
    return "says nothing: give it a \"precision\" or a \"method\"";
  return "";
}

std::string quantize::parseRules(StringRef text, std::vector<Rule> &rules) {
  Expected<json::Value> parsed = parseJson(text);
  if (!parsed)
    return toString(parsed.takeError());
  const json::Object *root = parsed->getAsObject();
  std::optional<int64_t> version =
      root ? root->getInteger(kVersionKey) : std::nullopt;
  if (!version)
    return "it is not a file of rules: it has no \"" + kVersionKey.str() +
           "\": 1";
  if (*version != kVersion)
    return "it has version " + std::to_string(*version) +
           ", but this program reads version " + std::to_string(kVersion);
  if (std::string wrong =
          unknownKey(*root, "no such file", {kVersionKey, "rules"});
      !wrong.empty())
    return "it " + wrong;
  if (std::string twice = findRepeatedKey(text); !twice.empty())
    return "it has the key \"" + printable(twice) +
           "\" more than once in one object";
  const json::Array *list = root->getArray("rules");
  if (!list)
    return "it has no list \"rules\"";
  for (auto [i, value] : enumerate(*list)) {
    const json::Object *object = value.getAsObject();
    std::optional<StringRef> name =
        object ? object->getString("name") : std::nullopt;
    if (!name || name->empty())
      return "rule " + std::to_string(i + 1) + " has no \"name\"";
    const std::string which = "rule '" + printable(*name) + "' ";
    Expected<GlobPattern> glob = GlobPattern::create(*name);
    if (!glob)
      return which + "is not a pattern: " + toString(glob.takeError());
    Rule rule = {name->str(), "", std::nullopt};
    if (std::string wrong = parseRule(*object, rule); !wrong.empty())
      return which + wrong;
    rules.push_back(std::move(rule));
  }
  return "";
}

std::string quantize::readRules(const std::string &path,
                                std::vector<Rule> &rules) {
  std::string text;
  if (std::string wrong = readWholeFile(path, kMostBytes, text); !wrong.empty())
    return "cannot read '" + printable(path) + "': " + wrong;
  std::string wrong = parseRules(text, rules);
  return wrong.empty() ? "" : "'" + printable(path) + "': " + wrong;
}

std::vector<std::string> quantize::precisionRules(ArrayRef<Rule> rules) {
  std::vector<std::string> texts;
  for (const Rule &rule : rules)
    if (!rule.precision.empty())
      texts.push_back(rule.pattern + "=" + rule.precision);
  return texts;
}

MethodChoice quantize::methodFor(StringRef tensor, ArrayRef<Rule> rules,
                                 const MethodChoice &otherwise) {
  for (const Rule &rule : rules)
    if (rule.method && rule.fitsTensor(tensor))
      return *rule.method;
  return otherwise;
}

std::string quantize::checkMethodRules(ArrayRef<Rule> rules,
                                       ArrayRef<std::string> tensors) {
  for (const Rule &rule : rules) {
    if (!rule.method || any_of(tensors, [&](StringRef tensor) {
          return rule.fitsTensor(tensor);
        }))
      continue;
    SmallVector<StringRef> names;
    for (StringRef tensor : tensors)
      append_range(names, nodesOfTensor(tensor));
    return "rule '" + printable(rule.pattern) +
           "' has a method, but matches no calibrated tensor" +
           nearNames(rule.pattern, names);
  }
  return "";
}
