//===- lower/linalg/Passes.td - from nn to linalg ----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOWER_LINALG_PASSES_TD
#define INGOT_PASSES_LOWER_LINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def FillSplats : Pass<"linalg-fill-splats"> {
  let summary = "Fill buffers that hold one number rather than store them";
  let description = [{
    A constant that is one number everywhere takes no memory in the compiler,
    but all of its size in the artifact. Where it is large, each of its uses
    gets a buffer of the arena that is filled in the run. Weights that oneDNN
    rearranges once stay constants.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "65536",
           "Smaller constants are stored">];
  let statistics = [Statistic<"filled", "filled", "Constants that are filled">];
}

def FuseElementwise : Pass<"fuse-elementwise"> {
  let summary = "Fuse elementwise ops on tensors, up to a size";
  let description = [{
    Upstream's `linalg-fuse-elementwise-ops`, whose ops may grow without bounds:
    each step copies what was fused so far, and LLVM then has all of it in one
    block. Ops of more than `most-ops` together, a function like `exp` counting
    as eight, stay apart, and so do products and what computes their factors,
    transposes and functions.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"256",
                        "Ops of a body">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def NNToLinalg : Pass<"nn-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower nn ops to linalg, tensor, arith and math";
  let description = [{
    Also drops the sign of integer types: `ui8` tensors become `i8`, their ops
    having been lowered by sign. Elementwise ops become `linalg.generic`s with
    broadcasting in the indexing maps; a dimension that may or may not broadcast
    in a run is decided there.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def RelaxReductions : Pass<"linalg-relax-reductions"> {
  let summary = "Let sums and products of reductions be reordered";
  let description = [{
    Without it no reduction of floats becomes vector code. The order is still
    the same in every run.
  }];
}

#endif // INGOT_PASSES_LOWER_LINALG_PASSES_TD
