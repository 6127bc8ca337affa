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
  let summary = "Convert what is left to the LLVM dialect";
  let description = [{
    Upstream's conversions in one go. Memory of dynamic size comes from the
    host, through the function's last argument, the run's `ingot_abi_call`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def CutFunctions : Pass<"cut-functions", "::mlir::ModuleOp"> {
  let summary = "Cut long functions into pieces";
  let description = [{
    What LLVM does with a function, and what register allocation does above all,
    takes longer than in proportion to its size. A function of one block with
    more than twice `most-ops` ops becomes a row of calls of private functions
    of about that many.

    Constants, and views and sizes of arguments, are repeated where a piece
    needs them. Other values that a later piece needs, which are sizes and
    buffers that the host gave or the run allocates, are left in memory of the
    function itself, where values that are needed at different times share a
    place: on the stack, or, of a run that has very many, allocated.
  }];
  let options = [Option<"mostOps", "most-ops", "int64_t", /*default=*/"1000",
                        "Ops of a piece, nested ones included">];
  let statistics = [Statistic<"pieces", "pieces", "functions made">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def LowerControlFlow : Pass<"lower-control-flow"> {
  let summary = "Lower loops and conditions to branches";
  let description = [{
    Upstream's patterns, the last op of a block first. Each moves what follows
    it into a block of its own; the other way around, a function with n of them
    takes n² moves.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect"];
}

def GuardDivision : Pass<"guard-division"> {
  let summary = "Keep integer divisions from ending the process";
  let description = [{
    A processor traps on an integer division by zero, and on the least number
    divided by minus one; ONNX leaves both open. Here `x / 0` and `x % 0` are 0,
    and `x / -1` wraps around. Divisors known to be others stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def LoadArguments : Pass<"load-arguments", "::mlir::ModuleOp"> {
  let summary =
      "Take inputs and outputs from the run's call where there are many";
  let description = [{
    Each input and output is an argument of `@forward`, and a memref is seven
    and more of LLVM's. Where there are more than `most-buffers`, `ingot.buffer`
    takes their place, which each piece of the function has for those that it
    needs.
  }];
  let options = [Option<"mostBuffers", "most-buffers", "int64_t",
                        /*default=*/"128", "Arguments that stay arguments">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def LowerOpenExpansions : Pass<"lower-open-expansions", "::mlir::ModuleOp"> {
  let summary = "Lower views that split a dimension into several open ones";
  let description = [{
    A `memref.expand_shape` with two open sizes in one group becomes a
    `memref.reinterpret_cast` of the sizes that it states.
    `expand-strided-metadata` computes the one open size of a group from the
    others and knows no second.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def OutlineLoops : Pass<"outline-loops", "::mlir::ModuleOp"> {
  let summary = "Give each loop nest a function of its own";
  let description = [{
    LLVM's work on a function grows faster than its size: one function with the
    loops of all of a model's layers takes minutes. Views of buffers at known
    offsets are repeated inside, so that LLVM still sees what does not alias.
    Loops that allocate memory or call something stay where they are.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect",
                           "::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"outlinedLoops", "outlined-loops",
              "Loop nests that were outlined">];
}

def MergeKernels : Pass<"merge-kernels", "::mlir::ModuleOp"> {
  let summary = "Make one function of kernels that differ in numbers alone";
  let description = [{
    Layers of a model differ in how many channels they have, and their kernels
    in strides, counts and offsets alone. Private functions that are otherwise
    equal, op by op, over flat views of what they are given, become calls of one
    that is told these numbers, if they are few enough (docs/compile-time.md).
    Up to six scalars of an epilogue, such as the zero points and factors of
    int8, are told, too.

    ```mlir
    func.func private @matmul.1(%a: memref<?x96xf32>, …) {
      %flat = memref.reinterpret_cast %a …
      call @matmul.0.common(%flat, …, %c96, %c3) : …
    ```
  }];
  let options = [Option<"fewestOps", "fewest-ops", "int64_t", /*default=*/"100",
                        "Ops of a function that is worth a call">];
  let statistics = [Statistic<"merged", "merged",
                              "functions whose code is elsewhere">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect"];
}

def OutlineRepeats : Pass<"outline-repeats", "::mlir::ModuleOp"> {
  let summary = "Give what a run does many times a function of its own";
  let description = [{
    Exporters write loops out: a detector finds the best boxes of each of 90
    classes in code of its own, which is the same but for what it is given.
    Rows of ops that the run's function has again become calls of one private
    function. It is given what the rows take from elsewhere, the constants that
    they differ in, and the messages of their checks; it returns what is needed
    behind them. Views of what was there before are left in front of the calls.

    ```mlir
    // of: %view = memref.view %arena[%c64][] …
    //     cpu.launch @loops.0(%x, %view) tasks(%n) …
    call @forward_repeat_0(%arena, %c64, %x, %n, …, %call)
    call @forward_repeat_0(%arena, %c128, %y, %m, …, %call)
    ```

    Rows are found by 64 ops that they have in common, those of most rows first,
    then by 32, 16 and 8, and grow in both directions as long as nearly all of
    them go on with the same op.
  }];
  let options = [Option<"leastSaved", "least-saved", "int64_t",
                        /*default=*/"500",
                        "Ops that there have to be fewer of, or rows stay">];
  let statistics = [Statistic<"outlined", "outlined", "functions made">,
                    Statistic<"saved", "saved", "ops that there are fewer">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif // INGOT_PASSES_LLVM_PASSES_TD
