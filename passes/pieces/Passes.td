//===- pieces/Passes.td - passes for compile time -----------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_PIECES_PASSES_TD
#define INGOT_PASSES_PIECES_PASSES_TD

include "mlir/Pass/PassBase.td"

def CutFunctions : Pass<"cut-functions", "::mlir::ModuleOp"> {
  let summary = "Cut long functions into pieces";
  let description = [{
    What LLVM does with a function, and what register allocation does above all,
    takes longer than in proportion to its size. A function of one block with
    more than twice `most-ops` ops becomes a row of calls of private functions of
    about that many.

    Constants and views of arguments are repeated where a piece needs them. Other
    values that a later piece needs, which are sizes and buffers that the host
    gave, are left in memory of the function itself, where values that are needed
    at different times share a place.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"1000",
                        "Ops of a piece, nested ones included">];
  let statistics = [Statistic<"pieces", "pieces", "functions made">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def FuseElementwise : Pass<"fuse-elementwise"> {
  let summary = "Fuse elementwise ops on tensors, up to a size";
  let description = [{
    Upstream's `linalg-fuse-elementwise-ops`, whose ops may grow without bounds:
    each step copies what was fused so far, and LLVM then has all of it in one
    block. Ops of more than `most-ops` together, a function like `exp` counting as
    eight, stay apart.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"256",
                        "Ops of a body">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"];
}

def EliminateEmpties : Pass<"ingot-eliminate-empties", "::mlir::ModuleOp"> {
  let summary = "Let ops write where their result is inserted";
  let description = [{
    Each use of a `tensor.empty` gets one of its own. Where what an op writes to
    it is inserted into another tensor, or is an output of the model, a slice of
    that takes its place. Upstream's `eliminate-empty-tensors` does the same, in
    time that grows with the cube of a chain's length.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def LoadArguments : Pass<"load-arguments", "::mlir::ModuleOp"> {
  let summary = "Take inputs and outputs from the run's call where there are many";
  let description = [{
    Each input and output is an argument of `@forward`, and a memref is seven and
    more of LLVM's. Where there are more than `most-buffers`, `ingot.buffer` takes
    their place, which each piece of the function has for those that it needs.
  }];
  let options = [Option<"mostBuffers", "most-buffers", "int64_t",
                        /*default=*/"128", "Arguments that stay arguments">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif // INGOT_PASSES_PIECES_PASSES_TD
