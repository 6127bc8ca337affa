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

/// `GLOB=fp32`: operations that come from an ONNX node of such a name stay as
/// they are.
class KeepRules {
public:
  /// A rule that is none, or of no node of the module, is reported.
  static mlir::FailureOr<KeepRules> parse(mlir::ModuleOp module,
                                          llvm::ArrayRef<std::string> rules);

  bool keeps(mlir::Operation *op) const;

private:
  std::vector<llvm::GlobPattern> patterns;
};

/// "; names like it: 'a', 'b'", or "" if no name is like `name`.
std::string nearNames(llvm::StringRef name,
                      llvm::ArrayRef<llvm::StringRef> names);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_RULES_H
