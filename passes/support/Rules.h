//===- Rules.h - rules for the precision of nodes ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RULES_H
#define INGOT_PASSES_SUPPORT_RULES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/GlobPattern.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot {

/// Returns true if a rule can name the precision.
bool isPrecisionOfRule(llvm::StringRef name);
/// Lists the precisions that a rule can name: "fp32, int8, bf16 or fp16".
std::string precisionsOfRules();

/// Checks a rule `GLOB=PRECISION` for nodes that are either fp32 or `narrow`.
/// Returns "", or an error text that continues the rule's text.
std::string checkRule(llvm::StringRef rule, llvm::StringRef narrow);

/// Returns the rule that keeps a node in fp32. Its name may have any
/// characters.
std::string keepRule(llvm::StringRef node);

/// The reason of a decision that a rule made.
inline constexpr char kRuleConverts[] = "is converted by a rule";

/// Rules for the precision of operations by the name of their ONNX node.
/// `GLOB=fp32` keeps matching operations in fp32. `GLOB=int8`, or the given
/// `narrow` precision, converts matching operations, whatever later rules say.
class KeepRules {
public:
  /// Parses rules. Reports an invalid rule, and a rule that matches no node of
  /// the module.
  static mlir::FailureOr<KeepRules> parse(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> rules,
                                          llvm::StringRef narrow = "int8");
  /// Parses rules that are known to be valid. The module may have lost nodes
  /// that the rules name.
  static KeepRules again(llvm::ArrayRef<std::string> rules);

  bool keeps(mlir::Operation *op) const {
    return find({op->getLoc()}).value_or(false);
  }
  /// Returns true if a rule converts the op, even if that does not pay.
  bool converts(mlir::Operation *op) const {
    return !find({op->getLoc()}).value_or(true);
  }
  /// Returns the precision of the first rule that matches a node of one of the
  /// locations.
  std::optional<bool> find(llvm::ArrayRef<mlir::Location> locations) const;

private:
  struct Rule {
    llvm::GlobPattern pattern;
    bool isKept;
  };
  void add(llvm::StringRef rule);

  /// The rules. The first match decides.
  std::vector<Rule> rules;
};

/// Returns "; similar names: 'a', 'b'", or "" if no name is similar to `name`.
std::string nearNames(llvm::StringRef name,
                      llvm::ArrayRef<llvm::StringRef> names);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_RULES_H
