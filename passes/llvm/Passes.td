//===- llvm/Passes.td - code of every backend --------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_PASSES_TD
#define INGOT_PASSES_LLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertToLLVM : Pass<"ingot-convert-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert all remaining ops to the LLVM dialect";
  let description = [{
    Runs upstream's conversions as one. Memory of dynamic size comes from the
    host, through the function's last argument, the run's `ingot_abi_call`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CutFunctions : Pass<"cut-functions", "::mlir::ModuleOp"> {
  let summary = "Cut long functions into pieces";
  let description = [{
    LLVM's time for a function grows faster than the function's size, mainly
    because of register allocation. A function of one block with more than twice
    `most-ops` ops becomes a sequence of calls. Each callee is a private
    function of about `most-ops` ops.

    Constants, and views and sizes of arguments, are repeated in each piece that
    needs them. Other values that a later piece needs are sizes and buffers.
    They are kept in memory of the function, where values with disjoint
    lifetimes share a slot. This memory is on the stack, or allocated if there
    are very many values.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"1000",
                        "Most ops of a piece, including nested ops">];
  let statistics = [Statistic<"pieces", "pieces", "functions made">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def LowerControlFlow : Pass<"lower-control-flow"> {
  let summary = "Lower loops and conditions to branches";
  let description = [{
    Applies upstream's patterns to the last op of a block first. Lowering an op
    moves the rest of its block into a new block. In the other order, a function
    with n such ops would take n² moves.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}

def GuardDivision : Pass<"guard-division"> {
  let summary = "Keep integer divisions from ending the process";
  let description = [{
    A processor traps at an integer division by zero, and at the division of the
    smallest integer by -1. ONNX does not define either result. With this pass,
    `x / 0` and `x % 0` are 0, and `x / -1` wraps around. Divisors that are
    known to be safe stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LoadArguments : Pass<"load-arguments", "::mlir::ModuleOp"> {
  let summary = "Read inputs and outputs from the run's call if there are many";
  let description = [{
    Each input and output is an argument of `@forward`, and a memref becomes
    seven or more arguments in LLVM. If there are more than `most-buffers`,
    `ingot.buffer` ops replace them. Each piece of the function then has the ops
    for the buffers that it needs.
  }];
  let options = [Option<"mostBuffers", "most-buffers", "int64_t",
                        /*default=*/"128",
                        "Most inputs and outputs that stay arguments">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def ExpandViews : Pass<"expand-views"> {
  let summary = "Expand views of memrefs into offsets, sizes and strides";
  let description = [{
    Applies upstream's patterns of `expand-strided-metadata` to the ops of the
    memref dialect. Upstream's pass also folds all other ops, which takes longer
    than the expansion if the code has long kernels.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def LinalgToLoops : Pass<"linalg-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lower linalg ops to loops";
  let description = [{
    Runs upstream's `convert-linalg-to-loops` on a function with linalg ops.
    Upstream's pass folds all ops of a function, so functions without linalg ops
    are left out.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def LowerOpenExpansions : Pass<"lower-open-expansions", "::mlir::ModuleOp"> {
  let summary = "Lower views that split a dimension into several dynamic ones";
  let description = [{
    A `memref.expand_shape` with two dynamic sizes in one group becomes a
    `memref.reinterpret_cast` with the sizes that it states. Upstream's
    `expand-strided-metadata` computes the one dynamic size of a group from the
    others, so it cannot lower a group with two.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def OutlineLoops : Pass<"outline-loops", "::mlir::ModuleOp"> {
  let summary = "Give each loop nest a function of its own";
  let description = [{
    LLVM's time for a function grows faster than its size. One function with the
    loops of all layers would take minutes. Views of buffers at known offsets
    are repeated inside the new function, so that LLVM still sees which buffers
    do not alias. Loops that allocate memory or call a function stay in place.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"outlinedLoops", "outlined-loops",
              "Loop nests that were outlined">];
}

def MergeKernels : Pass<"merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Merge kernels that differ only in numbers into one function";
  let description = [{
    The layers of a model differ in their number of channels, and their kernels
    only in strides, counts and offsets. The pass merges private functions that
    are otherwise equal, op by op, over flat views of their arguments. Each
    becomes a call of one common function, which gets these numbers as
    arguments, if they are few enough (docs/design/similar-kernels.md). Up to
    eight scalars, such as the zero points and factors of int8, become
    arguments, too.

    ```mlir
    func.func private @matmul.1(%a: memref<?x96xf32>, …) {
      %flat = memref.reinterpret_cast %a …
      call @matmul.0.common(%flat, …, %c96, %c3) : …
    ```
  }];
  let options = [Option<"fewestOps", "fewest-ops", "int64_t",
                        /*default=*/"::ingot::threshold::mergedLeastOps",
                        "Fewest ops of a function that is worth a call">];
  let statistics = [Statistic<"merged", "merged",
                              "functions that call a common function">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
}

def OutlineRepeats : Pass<"outline-repeats", "::mlir::ModuleOp"> {
  let summary = "Outline op sequences that the run repeats";
  let description = [{
    Exporters unroll loops. For example, a detector finds the best boxes of each
    of 90 classes in code of its own, with only different operands. Sequences of
    ops that occur several times in the run's function become calls of one
    private function. Its arguments are the values that the sequences use from
    outside, the constants that differ, and the messages of their checks. It
    returns the values that later ops need. Views of earlier values stay in
    front of the calls.

    ```mlir
    // of: %view = memref.view %arena[%c64][] …
    //     cpu.launch @loops.0(%x, %view) tasks(%n) …
    call @forward_repeat_0(%arena, %c64, %x, %n, …, %call)
    call @forward_repeat_0(%arena, %c128, %y, %m, …, %call)
    ```

    The pass looks for 64 ops in common, then for 32, 16 and 8, and takes the
    candidates with the most repetitions first. A sequence grows in both
    directions as long as nearly all repetitions continue with the same op.
  }];
  let options = [Option<"leastSaved", "least-saved", "int64_t",
                        /*default=*/"::ingot::threshold::repeatedLeastSaved",
                        "Fewest ops that a repeat must save">];
  let statistics = [Statistic<"outlined", "outlined", "functions made">,
                    Statistic<"saved", "saved", "ops saved">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif // INGOT_PASSES_LLVM_PASSES_TD
