//===- Rules.cpp - rules for the precision of nodes -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Rules.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;

// Checks that the list has all precisions of the dialect.
#define INGOT_PRECISION(NAME, USE) | 1u << unsigned(Precision::NAME)
static_assert((0u
#include "runtime/include/ingot/abi/precisions.inc"
               ) == (2u << getMaxEnumValForPrecision()) - 1);

static constexpr StringRef kPrecisions[] = {
#define INGOT_PRECISION(NAME, USE)
#define INGOT_KEPT_PRECISION(NAME, USE) #NAME,
#include "runtime/include/ingot/abi/precisions.inc"
};

bool ingot::isPrecisionOfRule(StringRef name) {
  return llvm::is_contained(kPrecisions, name);
}

std::string ingot::precisionsOfRules() {
  ArrayRef<StringRef> all(kPrecisions);
  return llvm::join(all.drop_back(), ", ") + " or " + all.back().str();
}

std::string ingot::nearNames(StringRef name, ArrayRef<StringRef> names) {
  constexpr size_t kMaxShown = 3;
  constexpr unsigned kMaxLooked = 20000;
  const unsigned most = std::max<unsigned>(unsigned(name.size()) / 3, 2);
  SmallVector<std::pair<unsigned, StringRef>> near;
  for (StringRef other : names.take_front(kMaxLooked)) {
    unsigned distance =
        name.edit_distance(other, /*AllowReplacements=*/true, most);
    // A name that contains the searched name is similar, too.
    if (distance <= most || (name.size() > 2 && other.contains(name)))
      near.push_back({distance, other});
  }
  llvm::sort(near);
  std::string text;
  for (auto [distance, other] : ArrayRef(near).take_front(kMaxShown))
    text +=
        (text.empty() ? "; similar names: '" : ", '") + printable(other) + "'";
  return text;
}

std::string ingot::checkRule(StringRef rule, StringRef narrow) {
  // Names may contain '=', too.
  auto [glob, precision] = rule.rsplit('=');
  if (precision != "fp32" && precision != narrow) {
    const std::string wanted = "use GLOB=fp32, or GLOB=" + narrow.str() +
                               " to except some from a later rule";
    if (isPrecisionOfRule(precision))
      return "names " + precision.str() + ", but the model is compiled in " +
             narrow.str() + ": " + wanted;
    return "does not say what nodes are kept in: " + wanted;
  }
  if (glob.empty())
    return "has no name before the sign: '*' is every node";
  llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
  return pattern ? ""
                 : "is not a pattern: " + llvm::toString(pattern.takeError());
}

std::string ingot::keepRule(StringRef node) {
  std::string rule;
  for (char c : node) {
    if (StringRef("*?[\\").contains(c))
      rule += '\\';
    rule += c;
  }
  return rule + "=fp32";
}

void KeepRules::add(StringRef rule) {
  auto [glob, precision] = rule.rsplit('=');
  rules.push_back({cantFail(llvm::GlobPattern::create(glob)),
                   precision == "fp32"});
}

KeepRules KeepRules::again(ArrayRef<std::string> texts) {
  KeepRules result;
  for (StringRef rule : texts)
    result.add(rule);
  return result;
}

FailureOr<KeepRules> KeepRules::parse(ModuleOp module,
                                      ArrayRef<std::string> texts,
                                      StringRef narrow) {
  KeepRules result;
  llvm::SetVector<StringRef> names;
  if (!texts.empty())
    module.walk([&](Operation *op) {
      if (op->getParentOp() && !isa<ModuleOp>(op->getParentOp()))
        forEachNode(op->getLoc(),
                    [&](StringAttr name) { names.insert(name.getValue()); });
    });
  auto fail = [&](StringRef rule, const Twine &why) {
    emitError(UnknownLoc::get(module.getContext()))
        << "rule '" << printable(rule) << "' " << why;
    return failure();
  };
  for (StringRef rule : texts) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return fail(rule, wrong);
    result.add(rule);
    if (llvm::none_of(names, [&](StringRef name) {
          return result.rules.back().pattern.match(name);
        }))
      return fail(rule, "matches no node of the model" +
                            nearNames(rule.rsplit('=').first,
                                      names.getArrayRef()));
  }
  return result;
}

std::optional<bool> KeepRules::find(ArrayRef<Location> locations) const {
  for (const Rule &rule : rules) {
    bool fits = false;
    for (Location location : locations)
      forEachNode(location, [&](StringAttr name) {
        fits |= rule.pattern.match(name.getValue());
      });
    if (fits)
      return rule.isKept;
  }
  return std::nullopt;
}
