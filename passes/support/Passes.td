//===- support/Passes.td - passes that are of no one phase -*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PASSES_TD
#define INGOT_PASSES_SUPPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachTarget : Pass<"ingot-attach-target", "::mlir::ModuleOp"> {
  let summary = "Say which machine code is for";
  let description = [{
    Sets the module's `ingot.target`, which passes of kernels and code
    generation read. Passes before it serve every level of an artifact.
  }];
  let options = [
    Option<"level", "level", "std::string", "\"x86-64-v3\"",
           "CPU level, as --target names it">,
    ListOption<"numbers", "numbers", "std::string",
               "What is not as usual, as --target has it: l2=2M">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def Canonicalize : Pass<"ingot-canonicalize"> {
  let summary = "MLIR's canonicalizations, within the budget of all rewriting";
  let description = [{
    As `canonicalize`, which has no end if two canonicalizations undo each
    other, and does not say so if it stops early: this one fails with a message.
  }];
}

#endif // INGOT_PASSES_SUPPORT_PASSES_TD
