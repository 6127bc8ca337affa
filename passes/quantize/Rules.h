//===- Rules.h - nodes that the user keeps wide -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_RULES_H
#define INGOT_PASSES_QUANTIZE_RULES_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/GlobPattern.h"

#include <string>
#include <vector>

namespace ingot::quantize {

/// Whether a rule can name the precision, and those that it can: "fp32 or
/// int8".
bool isPrecisionOfRule(llvm::StringRef name);
std::string precisionsOfRules();

/// `GLOB=fp32`: operations that come from an ONNX node of such a name stay as
/// they are. `GLOB=int8`: they are quantized, whatever later rules say.
class KeepRules {
public:
  /// A rule that is none, or of no node of the module, is reported.
  static mlir::FailureOr<KeepRules> parse(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> rules);

  bool keeps(mlir::Operation *op) const;

private:
  struct Rule {
    llvm::GlobPattern pattern;
    bool isKept;
  };
  /// The first that fits decides.
  std::vector<Rule> rules;
};

/// "; names like it: 'a', 'b'", or "" if no name is like `name`.
std::string nearNames(llvm::StringRef name,
                      llvm::ArrayRef<llvm::StringRef> names);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_RULES_H
