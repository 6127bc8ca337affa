//===- Passes.td - passes that stand in for hardware -------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_EMULATE_PASSES_TD
#define INGOT_PASSES_EMULATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def EmulateInstructions : Pass<"emulate-instructions", "::mlir::ModuleOp"> {
  let summary = "Write AMX and dot product instructions as loops of others";
  let description = [{
    For tests of kernels on CPUs that lack the instructions: code that is tiled and
    addressed as before, in which `amx` ops, `x86vector.avx512.dot` and the
    intrinsic of VNNI are loops over vectors. An AMX tile is memory on the stack;
    a product adds to its accumulator's. The order of sums is that of Intel's
    manual; denormal numbers are kept, while AMX and `vdpbf16ps` take them as zero.

    Passes behind it see the CPU level `on` in the module's `ingot.target`.
  }];
  let options = [Option<"on", "on", "std::string", "\"x86-64-v3\"",
                        "The CPU level that is to run the code">];
  let dependentDialects = [
    "::ingot::IngotDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // INGOT_PASSES_EMULATE_PASSES_TD
