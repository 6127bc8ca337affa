//===- KeepRules.cpp - keep rules of a comparison -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/KeepRules.h"

#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/RulesFile.h"
#include "dialects/nn/NodeName.h"
#include "passes/support/Rules.h"

using namespace ingot;
using namespace ingot::study;

/// Appends `rules` to `keep`. They come from `file`, or from the caller if
/// `file` is empty.
static llvm::Error addKeep(const std::vector<std::string> &rules,
                           const std::string &file, llvm::StringRef narrow,
                           std::vector<std::string> &keep) {
  for (const std::string &rule : rules) {
    std::string wrong = checkRule(rule, narrow);
    if (wrong.empty())
      keep.push_back(rule);
    else if (!file.empty())
      return makeError("'" + printable(file) + "': rule '" + printable(rule) +
                       "' " + wrong);
    else
      return makeUsageError("--keep='" + printable(rule) + "' " + wrong);
  }
  return llvm::Error::success();
}

llvm::Error ingot::study::readKeepRules(const CompareOptions &options,
                                        PipelineOptions &pipeline) {
  std::vector<quantize::Rule> rules;
  if (!options.rules.empty())
    if (llvm::Error error = errorIf(quantize::readRules(options.rules, rules)))
      return error;
  const llvm::StringRef narrow = narrowName(pipeline);
  std::vector<std::string> keep;
  if (llvm::Error error = addKeep(options.keep, "", narrow, keep))
    return error;
  if (llvm::Error error =
          addKeep(quantize::precisionRules(rules), options.rules, narrow, keep))
    return error;
  pipeline.keep.insert(pipeline.keep.begin(), keep.begin(), keep.end());
  return llvm::Error::success();
}
