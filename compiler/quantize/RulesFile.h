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

/// A rule of `--rules`. It sets a precision for nodes, or a method for the
/// ranges of tensors, or both.
struct Rule {
  /// Pattern for names of ONNX nodes or of the model's inputs.
  std::string pattern;
  /// Precision of the nodes; empty if the rule sets none.
  std::string precision;
  std::optional<MethodChoice> method;

  /// Returns true if the pattern matches a calibrated tensor's name or a node
  /// that computes the tensor.
  bool fitsTensor(llvm::StringRef name) const;
};

/// Parses a whole file. docs/reference/calibration-file.md defines the format.
/// Returns an error, or "".
std::string parseRules(llvm::StringRef text, std::vector<Rule> &rules);

/// Parses the file at `path`. Errors name the file. Returns an error, or "".
std::string readRules(const std::string &path, std::vector<Rule> &rules);

/// Returns the rules that set a precision, in order, in the form of `--keep`.
std::vector<std::string> precisionRules(llvm::ArrayRef<Rule> rules);

/// Returns the method for a tensor's range. It comes from the first matching
/// rule with a method; if no rule matches, it is `otherwise`.
MethodChoice methodFor(llvm::StringRef tensor, llvm::ArrayRef<Rule> rules,
                       const MethodChoice &otherwise);

/// Checks that each rule with a method matches some tensor. Returns an error,
/// or "".
std::string checkMethodRules(llvm::ArrayRef<Rule> rules,
                             llvm::ArrayRef<std::string> tensors);

} // namespace ingot::quantize

#endif // INGOT_COMPILER_QUANTIZE_RULESFILE_H
