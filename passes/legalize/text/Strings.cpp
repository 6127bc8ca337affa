//===- Strings.cpp - string operators -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes or rejects string operators. The compiled program sees only ids of
// strings. Equal strings have equal ids.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/ml/MachineLearning.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Replaces StringNormalizer by its input if it changes nothing.
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

/// Rejects operators that read or build the text of strings.
static LogicalResult refuse(Node &node) {
  return node.unsupported("operators on the text of strings, which the host "
                          "has to process");
}

void legalize::populateStrings(Legalizers &legalizers) {
  legalizers.add("StringNormalizer", legalizeStringNormalizer);
  for (StringRef name : {"RegexFullMatch", "StringConcat", "StringSplit"})
    legalizers.add(name, refuse);
}
