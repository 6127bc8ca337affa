//===- CpuRecurrent.td - recurrences over time -------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPURECURRENT_TD
#define INGOT_DIALECTS_CPU_CPURECURRENT_TD

def Cpu_RecurrentOp
    : Op<Cpu_Dialect, "recurrent",
         [AttrSizedOperandSegments, Cpu_ScheduledInterface,
          DestinationStyleOpInterface, KernelOpInterface,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "recurrent network over all steps of a sequence";
  let description = [{
    For each direction and step `t = 0, 1, …` of `T` (with `reverse`, `T - 1, T
    - 2, …`): computes the products of the state with recurrent weights, then
    the cell, whose results are the state of the next step.

    Each direction has these operands. One of `srcs`, `T, B, I H`: the
    contribution of the input to `I` gates. `weights`, packed as those of
    `cpu.matmul`, `ceil(g H / P), H, P` for each `g` of `gates`.
    `column_operands` of `H` values each. States of `B, H`. `lengths`, `B, 1` of
    i64, belong to all directions. Operands of the first direction come first.

    `outs` are, for all directions, in this order. With `stores_all`, `T, B, H`
    for the output of each step. States, which hold the initial ones before and
    the final ones afterwards. Room for sums: `B` rows of the columns of all
    panels (rows may be longer), and `H` more columns if there is a `reset`.

    The region `cell` computes one unit of one sequence. Its arguments are the
    products of all gates, the contributions of the input to all of its gates,
    the states, and the column operands. With `lengths`, the last argument is
    true if the sequence has this step. It yields the output, then the states.
    The optional region `reset` has the arguments without the products with the
    last weights. These weights multiply the yielded value of `reset` instead of
    the first state.

    Constraints:
    - C1: directions and attributes determine the number of operands, which have
      the ranks and sizes above; all but `lengths` are of f32
    - C2: H, and all sizes of weights and column operands, are static
    - C3: `cell` and `reset` have an argument of f32 for each value above, and
      with `lengths` an i1 as the last; they yield the values above
    - C4: a result has the type of its operand in `outs`, if that is a tensor

    Example:
    ```mlir
    // An Elman net of 16 units.
    %h:2 = cpu.recurrent ins(%x : tensor<7x1x16xf32>)
        weights(%r : tensor<1x16x16xf32>)
        outs(%h0, %room : tensor<1x16xf32>, tensor<1x16xf32>)
        attributes {reverse = array<i1: false>, gates = array<i64: 1>,
                    num_states = 1 : i64} {
    ^bb0(%product: f32, %input: f32, %state: f32):
      %sum = arith.addf %product, %input : f32
      %next = math.tanh %sum : f32
      cpu.yield %next, %next : f32, f32
    } -> tensor<1x16xf32>, tensor<1x16xf32>
    ```
  }];
  let arguments = (ins Variadic<Cpu_Value>:$srcs, Variadic<Cpu_Value>:$weights,
                       Optional<Cpu_Value>:$lengths,
                       Variadic<Cpu_Value>:$column_operands,
                       Variadic<Cpu_Value>:$outs, DenseBoolArrayAttr:$reverse,
                       DenseI64ArrayAttr:$gates, I64Attr:$num_states,
                       UnitAttr:$stores_all,
                       OptionalAttr<Cpu_Schedule>:$schedule);
  let results = (outs Variadic<RankedTensorOf<[AnyType]>>:$results);
  let regions = (region SizedRegion<1>:$cell, MaxSizedRegion<1>:$reset);
  let hasVerifier = 1;
  let extraClassDeclaration = recurrentDeclarations # [{
    ::llvm::StringRef getBackend() { return kBackend; }
    bool isLaunched() {
      return ::mlir::isa<ScheduledOpInterface>(getOperation());
    }
    ::mlir::Type getProductType() {
      return ::mlir::Float32Type::get(getContext());
    }
    /// Returns the number of columns of sums in all panels of the first `count`
    /// weights.
    int64_t sumColumns(int64_t count);
  }];
  let assemblyFormat = [{
    `ins` `(` $srcs `:` type($srcs) `)`
    `weights` `(` $weights `:` type($weights) `)`
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    (`operands` `(` $column_operands^ `:` type($column_operands) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict-with-keyword
    $cell (`reset` $reset^)? (`->` type($results)^)?
  }];
}

#endif // INGOT_DIALECTS_CPU_CPURECURRENT_TD
