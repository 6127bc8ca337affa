//===- Rules.h - nodes that the user keeps wide -----------------*- C++ -*-===//
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

/// Whether a rule can name the precision, and those that it can: "fp32, int8,
/// bf16 or fp16".
bool isPrecisionOfRule(llvm::StringRef name);
std::string precisionsOfRules();

/// What is wrong with `GLOB=PRECISION` where nodes are either of fp32 or of
/// `narrow`, to be read behind the rule, or "".
std::string checkRule(llvm::StringRef rule, llvm::StringRef narrow);

/// `GLOB=fp32`: operations that come from an ONNX node of such a name stay as
/// they are. `GLOB=int8`, or what else is `narrow`: they become so, whatever
/// later rules say.
class KeepRules {
public:
  /// A rule that is none, or of no node of the module, is reported.
  static mlir::FailureOr<KeepRules> parse(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> rules,
                                          llvm::StringRef narrow = "int8");
  /// Rules that were parsed before, on a module that may have lost nodes.
  static KeepRules again(llvm::ArrayRef<std::string> rules);

  bool keeps(mlir::Operation *op) const {
    return find({op->getLoc()}).value_or(false);
  }
  /// What the first rule says that fits a node of one of the locations.
  std::optional<bool> find(llvm::ArrayRef<mlir::Location> locations) const;

private:
  struct Rule {
    llvm::GlobPattern pattern;
    bool isKept;
  };
  void add(llvm::StringRef rule);

  /// The first that fits decides.
  std::vector<Rule> rules;
};

/// "; names like it: 'a', 'b'", or "" if no name is like `name`.
std::string nearNames(llvm::StringRef name,
                      llvm::ArrayRef<llvm::StringRef> names);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_RULES_H
