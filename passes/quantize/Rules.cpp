//===- Rules.cpp - nodes that the user keeps wide -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Rules.h"

#include "dialects/nn/NodeName.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

static constexpr StringRef kPrecisions[] = {"fp32", "int8"};

bool quantize::isPrecisionOfRule(StringRef name) {
  return llvm::is_contained(kPrecisions, name);
}

std::string quantize::precisionsOfRules() {
  return llvm::join(ArrayRef(kPrecisions), " or ");
}

std::string quantize::nearNames(StringRef name, ArrayRef<StringRef> names) {
  constexpr size_t kMostShown = 3;
  constexpr unsigned kMostLooked = 20000;
  const unsigned most = std::max<unsigned>(unsigned(name.size()) / 3, 2);
  SmallVector<std::pair<unsigned, StringRef>> near;
  for (StringRef other : names.take_front(kMostLooked)) {
    unsigned distance =
        name.edit_distance(other, /*AllowReplacements=*/true, most);
    // What is a part of the other is like it, too.
    if (distance <= most || (name.size() > 2 && other.contains(name)))
      near.push_back({distance, other});
  }
  llvm::sort(near);
  std::string text;
  for (auto [distance, other] : ArrayRef(near).take_front(kMostShown))
    text +=
        (text.empty() ? "; names like it: '" : ", '") + printable(other) + "'";
  return text;
}

FailureOr<KeepRules> KeepRules::parse(ModuleOp module,
                                      ArrayRef<std::string> texts) {
  KeepRules result;
  llvm::SetVector<StringRef> names;
  if (!texts.empty())
    module.walk([&](Operation *op) {
      if (op->getParentOp() && !isa<ModuleOp>(op->getParentOp()))
        forEachNode(op->getLoc(),
                    [&](StringAttr name) { names.insert(name.getValue()); });
    });
  auto fail = [&](const Twine &rule) {
    return emitError(UnknownLoc::get(module.getContext()))
           << "rule '" << printable(rule.str()) << "'";
  };
  for (StringRef rule : texts) {
    // Names may hold the sign as well.
    auto [glob, precision] = rule.rsplit('=');
    if (!isPrecisionOfRule(precision)) {
      fail(rule) << " does not say what nodes are kept in: use GLOB=fp32, or "
                    "GLOB=int8 to except some from a later rule";
      return failure();
    }
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(glob);
    if (!pattern) {
      fail(rule) << " is no pattern: " << llvm::toString(pattern.takeError());
      return failure();
    }
    if (llvm::none_of(names,
                      [&](StringRef name) { return pattern->match(name); })) {
      fail(rule) << " is of no node of the model"
                 << nearNames(glob, names.getArrayRef());
      return failure();
    }
    result.rules.push_back({std::move(*pattern), precision == "fp32"});
  }
  return result;
}

bool KeepRules::keeps(Operation *op) const {
  auto fits = [&](const Rule &rule) {
    bool found = false;
    forEachNode(op->getLoc(), [&](StringAttr name) {
      found |= rule.pattern.match(name.getValue());
    });
    return found;
  };
  for (const Rule &rule : rules)
    if (fits(rule))
      return rule.isKept;
  return false;
}
