//===- CudaRecurrent.td - recurrences over time ------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDARECURRENT_TD
#define INGOT_DIALECTS_CUDA_CUDARECURRENT_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_RecurrentScheduleAttr : AttrDef<Cuda_Dialect, "RecurrentSchedule"> {
  let mnemonic = "recurrent_schedule";
  let summary = "the threads of a unit, and the units of a block";
  let description = [{
    `threads` lanes of a warp compute the products of one unit for `batch`
    sequences. A block has `units` units.

    Constraints:
    - C1: all sizes are powers of two
    - C2: threads are at most a warp, and a block has 32 to 1,024 threads
    - C3: batch is at most 8, and at most the number of threads: a lane computes
      the cell of one sequence

    Example:
    ```mlir
    #cuda.recurrent_schedule<threads = 32, units = 4, batch = 2>
    ```
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$units,
                        "int64_t":$batch);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static constexpr int64_t kMaxBatch = 8;
    int64_t getBlockThreads() const { return getThreads() * getUnits(); }
  }];
}

def Cuda_RecurrentOp : Op<Cuda_Dialect, "recurrent", [
    AttrSizedOperandSegments, DestinationStyleOpInterface, KernelOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "recurrent network, a launch for each step of a sequence";
  let description = [{
    For each direction and step `t = 0, 1, …` of `T` (with `reverse`, `T - 1, T
    - 2, …`): computes the products of the state with recurrent weights, then
    the cell, whose results are the state of the next step. One launch computes
    a step of all directions. With a `reset`, two launches do.

    Each direction has these operands. One of `srcs`, `T, B, I H`: the
    contribution of the input to `I` gates. `weights`, `g H, K` for each `g` of
    `gates`: the columns of a gate, as rows that are padded to 16 bytes.
    `column_operands` of `H` values each. States of `B, H`. `masks`, `T, B`,
    belong to all directions and are true for the steps of a sequence. Operands
    of the first direction come first.

    `outs` are, for all directions, in this order. With `stores_all`, `T, B, H`
    for the output of each step. States, which hold the initial ones before and
    the final ones afterwards. Room, `R, B, L`, for the first state before and
    after a step, and for the values of `reset`.

    The region `cell` computes one unit of one sequence. Its arguments are the
    products of all gates, the contributions of the input to all of its gates,
    the states, and the column operands. With `masks`, the last argument is
    true if the sequence has this step. It yields the output, then the states.
    The optional region `reset` has the arguments without the products with the
    last weights. These weights multiply the yielded value of `reset` instead of
    the first state.

    Weights are of f32, f16 or bf16. All else is computed in f32.

    Constraints:
    - C1: directions and attributes determine the number of operands, which have
      the ranks and sizes above; all but weights and masks are of f32
    - C2: H, and all sizes of weights and column operands, are static
    - C3: all weights have one type, and K is the least multiple of 16 bytes
      that holds H elements
    - C4: R is 2, or 3 with a `reset`; L is the least multiple of 4 that holds
      H elements, and a memref for room has no gaps
    - C5: `cell` and `reset` have an argument of f32 for each value above, and
      with `masks` an i1 as the last; they yield the values above
    - C6: a result has the type of its operand in `outs`, if that is a tensor

    Example:
    ```mlir
    // An Elman net of 16 units.
    %h:2 = cuda.recurrent ins(%x : tensor<7x1x16xf32>)
        weights(%r : tensor<16x16xf32>)
        outs(%h0, %room : tensor<1x16xf32>, tensor<2x1x16xf32>)
        attributes {reverse = array<i1: false>, gates = array<i64: 1>,
                    num_states = 1 : i64} {
    ^bb0(%product: f32, %input: f32, %state: f32):
      %sum = arith.addf %product, %input : f32
      %next = math.tanh %sum : f32
      cuda.yield %next, %next : f32, f32
    } -> tensor<1x16xf32>, tensor<2x1x16xf32>
    ```
  }];
  let arguments = (ins Variadic<Cuda_Value>:$srcs,
                       Variadic<Cuda_Value>:$weights,
                       Optional<Cuda_Value>:$masks,
                       Variadic<Cuda_Value>:$column_operands,
                       Variadic<Cuda_Value>:$outs, DenseBoolArrayAttr:$reverse,
                       DenseI64ArrayAttr:$gates, I64Attr:$num_states,
                       UnitAttr:$stores_all,
                       OptionalAttr<Cuda_RecurrentScheduleAttr>:$schedule);
  let results = (outs Variadic<RankedTensorOf<[AnyType]>>:$results);
  let regions = (region SizedRegion<1>:$cell, MaxSizedRegion<1>:$reset);
  let hasVerifier = 1;
  let extraClassDeclaration = recurrentDeclarations # [{
    /// Elements by which rows of room are padded: those of the widest access.
    static constexpr int64_t kRoomElements = 4;
    bool isLaunched() { return true; }
    ::mlir::Type getProductType() {
      return ::mlir::getElementTypeOrSelf(getWeights()[0].getType());
    }
    /// Returns the number of states that the room has place for.
    int64_t numRoomStates() { return hasReset() ? 3 : 2; }
  }];
  let assemblyFormat = [{
    `ins` `(` $srcs `:` type($srcs) `)`
    `weights` `(` $weights `:` type($weights) `)`
    (`masks` `(` $masks^ `:` type($masks) `)`)?
    (`operands` `(` $column_operands^ `:` type($column_operands) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict-with-keyword
    $cell (`reset` $reset^)? (`->` type($results)^)?
  }];
}

#endif // INGOT_DIALECTS_CUDA_CUDARECURRENT_TD
