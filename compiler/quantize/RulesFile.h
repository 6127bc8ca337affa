//===- RulesFile.h - precision and method by name ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_QUANTIZE_RULESFILE_H
#define INGOT_COMPILER_QUANTIZE_RULESFILE_H

#include "compiler/quantize/Methods.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::quantize {

/// A rule of `--rules`: what nodes are computed in, and how the ranges of
/// tensors are found.
struct Rule {
  /// What it is of: names of ONNX nodes, or of inputs of the model.
  std::string pattern;
  /// Empty: the rule says nothing of it.
  std::string precision;
  std::optional<MethodChoice> method;

  /// Whether it is of a tensor that calibration sees: one of that name, or that
  /// such a node computes.
  bool fitsTensor(llvm::StringRef name) const;
};

/// Parses a whole file of this version; docs/quantization.md has the format.
/// Returns what is wrong, or "".
std::string parseRules(llvm::StringRef text, std::vector<Rule> &rules);

/// The same of a file, which messages name.
std::string readRules(const std::string &path, std::vector<Rule> &rules);

/// The rules that name a precision, as `--keep` has them, in order.
std::vector<std::string> precisionRules(llvm::ArrayRef<Rule> rules);

/// How the range of a tensor is found: as the first rule that says it, or as
/// `otherwise`.
MethodChoice methodFor(llvm::StringRef tensor, llvm::ArrayRef<Rule> rules,
                       const MethodChoice &otherwise);

/// A rule that names a method must be of one of the tensors. Returns what is
/// wrong, or "".
std::string checkMethodRules(llvm::ArrayRef<Rule> rules,
                             llvm::ArrayRef<std::string> tensors);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_RULESFILE_H
