//===- CudaRows.td - rows of elements ----------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDAROWS_TD
#define INGOT_DIALECTS_CUDA_CUDAROWS_TD

// CudaOps.td includes this file after it has defined the dialect.

def Cuda_RowScheduleAttr : AttrDef<Cuda_Dialect, "RowSchedule"> {
  let mnemonic = "row_schedule";
  let summary = "the threads of a row, and the elements of a thread";
  let description = [{
    `threads` threads compute a row, and a block computes `rows` rows. A thread
    accesses `vector` neighboring elements together. It keeps `held` such
    vectors in registers, which together hold the row. If `held` is 0, each step
    reads the row again.

    An op along columns takes `vector` neighboring columns as a row. Each of its
    vectors has one element of each column.

    Constraints:
    - C1: all sizes but `held` are powers of two; `vector` is at most 16
    - C2: a block has 32 to 1,024 threads
    - C3: a thread holds at most 64 elements, and 32 in blocks of more than 512
      threads

    Example:
    ```mlir
    #cuda.row_schedule<threads = 32, rows = 4, vector = 8, held = 3>
    ```
  }];
  let parameters = (ins "int64_t":$threads, "int64_t":$rows, "int64_t":$vector,
                        "int64_t":$held);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The most elements that a thread of a block of `threads` holds.
    static int64_t getMaxHeld(int64_t threads) {
      return threads > 512 ? 32 : 64;
    }
    int64_t getBlockThreads() const { return getThreads() * getRows(); }
  }];
}

class Cuda_RowOp<string mnemonic, string before = "">
    : Op<Cuda_Dialect, mnemonic, [
          EpilogueOpInterface, DestinationStyleOpInterface, SingleBlock,
          DeclareOpInterfaceMethods<KernelOpInterface,
                                    ["getKernelClass", "getKernelKind"]>,
          DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  dag rowArguments = (ins Cuda_Value:$src,
                          Variadic<Cuda_Value>:$epilogue_operands,
                          Cuda_Value:$dst);
  dag scheduleArguments = (ins OptionalAttr<Cuda_RowScheduleAttr>:$schedule);
  let results = (outs Optional<RankedTensorOf<[AnyType]>>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  code baseDeclarations = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDstMutable(); }
    bool isLaunched() { return true; }
    /// Returns true if an epilogue can read the type.
    static bool canEpilogueRead(::mlir::Type element) {
      return ::ingot::cuda::canEpilogueRead(element);
    }
  }];
  let extraClassDeclaration = baseDeclarations;
  let assemblyFormat = before # [{
    `ins` `(` $src `:` type($src) `)`
    (`operands` `(` $epilogue_operands^ `:` type($epilogue_operands) `)`)?
    `outs` `(` $dst `:` type($dst) `)` attr-dict-with-keyword
    $epilogue (`->` type($result)^)?
  }];
}

def Cuda_SoftmaxOp : Cuda_RowOp<"softmax"> {
  let summary = "softmax along the last dimension, or the one before";
  let description = [{
    `e^(x - max) / sum of e^(x - max)`, or with `log` its logarithm, then the
    epilogue. With `columns`, the softmax is along the last dimension but one.
    Src is of f32, f16 or bf16; all else is computed in f32. A row whose maximum
    is -infinity, +infinity or NaN gives NaN, as the formula does.

    Constraints:
    - C1: dst has the shape of src, of rank 1 or more, with `columns` 2 or more
    - C2: src is of f32, f16 or bf16
    - C3: the epilogue has an argument for the result, of f32, and for each
      operand
    - C4: the vectors of the schedule divide a row, the columns, or the channels
      of a group
    - C5: the vectors that a thread holds are none, or hold a row
    - C6: the sizes from the dimension of the softmax on are static and not 0

    Example:
    ```mlir
    %y = cuda.softmax ins(%x : tensor<7x24xf16>) outs(%d : tensor<7x24xf32>) {
    ^bb0(%p: f32):
      cuda.yield %p : f32
    } -> tensor<7x24xf32>
    ```
  }];
  let arguments = !con(rowArguments, (ins UnitAttr:$log, UnitAttr:$columns),
                       scheduleArguments);
}

def Cuda_RowNormOp : Cuda_RowOp<"row_norm"> {
  let summary = "normalization along the last dimension";
  let description = [{
    `(x - mean) / sqrt(variance + epsilon)`, or with `rms` `x / sqrt(mean of x^2
    + epsilon)`, then the epilogue, which scales and shifts. The variance is the
    mean of the squares of `x - mean`.

    Constraints: those of `cuda.softmax`.
  }];
  let arguments = !con(rowArguments, (ins F32Attr:$epsilon, UnitAttr:$rms),
                       scheduleArguments);
}

def Cuda_GroupNormOp : Cuda_RowOp<"group_norm"> {
  let summary = "normalization of groups of channels of each sample";
  let description = [{
    Src and dst are `N, S, C`. A row has the S positions of a sample and `C /
    groups` neighboring channels. With one channel for each group, channels are
    columns. Otherwise as `cuda.row_norm`.

    Constraints, besides those of `cuda.softmax`:
    - C7: src has rank 3, and groups divides C

    Example:
    ```mlir
    %y = cuda.group_norm ins(%x : tensor<2x49x64xf32>)
        operands(%s : tensor<1x1x64xf32>) outs(%d : tensor<2x49x64xf32>)
        attributes {groups = 8 : i64, epsilon = 1.0e-5 : f32} {
    ^bb0(%n: f32, %scale: f32):
      %0 = arith.mulf %n, %scale : f32
      cuda.yield %0 : f32
    } -> tensor<2x49x64xf32>
    ```
  }];
  let arguments = !con(rowArguments, (ins I64Attr:$groups, F32Attr:$epsilon),
                       scheduleArguments);
}

#endif // INGOT_DIALECTS_CUDA_CUDAROWS_TD
