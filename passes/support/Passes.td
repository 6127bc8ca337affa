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
  let summary = "Set the machine that code is generated for";
  let description = [{
    Sets the module's `ingot.target`, which passes of kernels and code
    generation read. Passes before it serve every level of an artifact.
  }];
  let options = [
    Option<"level", "level", "std::string", "\"x86-64-v3\"",
           "CPU level, named as in --target">,
    ListOption<"numbers", "numbers", "std::string",
               "Overrides of the level's numbers, as in --target: l2=2M">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def AttachTargets : Pass<"ingot-attach-targets", "::mlir::ModuleOp"> {
  let summary = "Set the machines that the artifact has code for";
  let description = [{
    Sets the module's `ingot.targets`, which passes read that serve every level
    of an artifact. A list without a level, a level that is listed twice, and
    unknown levels and numbers are errors.
  }];
  let options = [
    Option<"device", "device", "std::string", "\"cpu\"",
           "Device of the backend that computes heavy ops">,
    ListOption<"levels", "levels", "std::string",
               "CPU levels, named as in --target">,
    ListOption<"may", "may", "std::string",
               "Levels that get code only if they multiply the model's "
               "element types faster">,
    ListOption<"numbers", "numbers", "std::string",
               "Overrides of the numbers of all levels, as in --target: "
               "l2=2M">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def Canonicalize : Pass<"ingot-canonicalize"> {
  let summary = "Canonicalize, and fail if this does not terminate";
  let description = [{
    Applies the patterns of MLIR's `canonicalize` within the budget of all
    rewriting. MLIR's pass does not terminate if two patterns undo each other,
    and it does not report an early stop. This pass fails with a message.
  }];
  let options = [
    Option<"simplifyRegions", "simplify-regions", "bool", "true",
           "Remove arguments of blocks, and ops in cycles of blocks, that "
           "nothing reads">];
}

def FoldConstants : Pass<"nn-fold-constants"> {
  let summary = "Compute ops whose operands are constant";
  let description = [{
    Calls every op's folder. It computes nn ops on constants in f64, integers
    exactly, and rounds once. A result larger than `max-bytes`, or much larger
    than its operands, is computed at run time, which is cheaper than storing
    it. Results of ops that only move elements (`concat`, `reshape`, `slice`,
    `transpose`) may be larger, up to four times all constants together.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "16777216",
           "Bytes of the largest result that is computed">,
    Option<"maxGrowth", "max-growth", "int64_t", "8",
           "Largest ratio of the sizes of a result and its operands">,
    Option<"smallBytes", "small-bytes", "int64_t", "65536",
           "Bytes up to which a result may grow by any ratio">];
  let statistics = [Statistic<"folded", "folded", "ops folded">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // INGOT_PASSES_SUPPORT_PASSES_TD
