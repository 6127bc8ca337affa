//===- Strings.cpp - operators that look into strings ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A run knows which strings are equal, not what is in them.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ml/MachineLearning.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Without stop words and changes of case it does nothing.
static LogicalResult legalizeStringNormalizer(Node &node) {
  StringRef action = node.getString("case_change_action", "NONE");
  if (!node.has(0) || node.rank(0) < 1 || node.rank(0) > 2)
    return node.invalid("X of rank 1 or 2 is needed");
  if (action != "NONE")
    return node.unsupported("case_change_action " + action +
                            ", which the host has to do before");
  if (node.hasAttr("stopwords"))
    return node.unsupported("stopwords, which the host has to take out before");
  return node.replace(node.input(0));
}

/// What takes strings apart or puts them together.
static LogicalResult refuse(Node &node) {
  return node.unsupported("what is in a string, which the host has to look "
                          "into");
}

void legalize::populateStrings(Legalizers &legalizers) {
  legalizers.add("StringNormalizer", legalizeStringNormalizer);
  for (StringRef name : {"RegexFullMatch", "StringConcat", "StringSplit"})
    legalizers.add(name, refuse);
}
