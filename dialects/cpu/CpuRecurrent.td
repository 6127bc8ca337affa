//===- CpuRecurrent.td - a recurrence over time ------------*- tablegen -*-===//
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
          DestinationStyleOpInterface,
          DeclareOpInterfaceMethods<KernelOpInterface, ["getKernelKind"]>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a recurrent net over all steps of a sequence";
  let description = [{
    For each direction and step `t = 0, 1, …` of `T` (in a direction with
    `reverse`, `T - 1, T - 2, …`): products of the state with recurrent
    weights, then the cell, whose results are the state of the next step.

    A direction has one of `srcs`, `T, B, I H`, what the input adds to `I`
    gates; `weights`, packed as those of `cpu.matmul`, `ceil(g H / P), H, P`
    for each `g` of `gates`; `column_operands`, `H` numbers each; and states of
    `B, H`. `lengths`, `B, 1` of i64, are those of all directions. What belongs
    to the first direction comes first.

    `outs` are, for all directions: with `stores_all` one of `T, B, H`, what
    each step shows; states, which hold the initial ones before and the final
    ones afterwards; and room for sums, `B` rows of the columns of all panels,
    `H` more where there is a `reset`, or longer ones.

    The region `cell` computes one unit of one sequence. Its arguments are the
    products of all gates, what the input adds to all of its gates, the states,
    the column operands, and, with `lengths`, whether the sequence has this
    step. It yields what is shown, then the states. The region `reset`, if it is
    there, has the arguments but for the products with the last weights: these
    multiply what it yields instead of the first state.

    Constraints:
    - C1: operands are as many as the directions and attributes say, and of the
      ranks and sizes above; all but `lengths` are of f32
    - C2: H, and all sizes of weights and column operands, are known
    - C3: `cell` and `reset` have an argument for each of the above, of f32, and
      i1 for the last with `lengths`; they yield as many values
    - C4: a result has the type of its `outs`, if that is a tensor

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
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOutsMutable();
    }
    ::llvm::StringRef getBackend() { return kBackend; }
    bool isLaunched() {
      return ::mlir::isa<ScheduledOpInterface>(getOperation());
    }

    ::mlir::Type getProductType() {
      return ::mlir::Float32Type::get(getContext());
    }
    int64_t numDirections() { return int64_t(getReverse().size()); }
    bool hasReset() { return !getReset().empty(); }
    /// Those of one direction, each.
    int64_t numColumnOperands() {
      return int64_t(getColumnOperands().size()) / numDirections();
    }
    /// Elements of a state.
    int64_t hidden() {
      return ::mlir::cast<::mlir::ShapedType>(state(0, 0).getType())
          .getShape().back();
    }
    /// Gates that the input adds to.
    int64_t numInputs() {
      return ::mlir::cast<::mlir::ShapedType>(getSrcs()[0].getType())
          .getShape().back() / hidden();
    }
    int64_t numProducts() {
      int64_t sum = 0;
      for (int64_t gates : getGates())
        sum += gates;
      return sum;
    }
    ::mlir::Value weightsOf(int64_t direction, int64_t i) {
      return getWeights()[direction * int64_t(getGates().size()) + i];
    }
    ::mlir::Value columnOperand(int64_t direction, int64_t i) {
      return getColumnOperands()[direction * numColumnOperands() + i];
    }
    /// What each step shows; null if that is not stored.
    ::mlir::Value all(int64_t direction) {
      return getStoresAll() ? getOuts()[direction] : ::mlir::Value();
    }
    ::mlir::Value state(int64_t direction, int64_t i) {
      return getOuts()[firstState() + direction * int64_t(getNumStates()) + i];
    }
    ::mlir::Value sums(int64_t direction) {
      return getOuts()[firstState() +
                       numDirections() * int64_t(getNumStates()) + direction];
    }
    int64_t firstState() { return getStoresAll() ? numDirections() : 0; }
    /// Columns of sums: of all panels of the first `count` weights.
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
