//===- support/Passes.td - passes that are not of one stretch ---*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_PASSES_TD
#define INGOT_PASSES_SUPPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def Canonicalize : Pass<"ingot-canonicalize"> {
  let summary = "MLIR's canonicalizations, within the budget of all rewriting";
  let description = [{
    As `canonicalize`, which has no end if two canonicalizations undo each other,
    and does not say so if it stops early: this one fails with a message.
  }];
}

#endif // INGOT_PASSES_SUPPORT_PASSES_TD
