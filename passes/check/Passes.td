//===- check/Passes.td - passes that refuse -----------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CHECK_PASSES_TD
#define INGOT_PASSES_CHECK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckIndices : Pass<"nn-check-indices", "::mlir::func::FuncOp"> {
  let summary = "Refuse constant indices that name no position";
  let description = [{
    An index of a gather or scatter is in [-n, n) for a dimension of n elements.
    Where indices and dimension are known, one that is not is an error, which
    gives the index, its place and what is allowed. It stands behind
    `nn-fold-constants`, so that indices that are computed from constants are
    looked at, too. Whatever is not known is checked in the run.
  }];
}

def RefuteChecks : Pass<"ingot-refute-checks", "::mlir::func::FuncOp"> {
  let summary = "Refuse what would end every run";
  let description = [{
    An `ingot.require` in the function's block whose condition is known to be
    false is an error of the compilation, with the message that runs would end
    with: one for each node.
  }];
}

#endif // INGOT_PASSES_CHECK_PASSES_TD
