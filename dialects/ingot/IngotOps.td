//===- IngotOps.td - ingot dialect -------------------------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_INGOTOPS_TD
#define INGOT_DIALECTS_INGOT_INGOTOPS_TD

include "dialects/ingot/IngotDialect.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ingot_RunStatus : Resource<"::ingot::RunStatus">;

def Ingot_RequireOp : Op<Ingot_Dialect, "require",
                         [MemoryEffects<[MemWrite<Ingot_RunStatus>]>]> {
  let summary = "run-time check that ends the run with a message if it fails";
  let description = [{
    If `holds` is false, the run ends with `INGOT_ABI_RUNTIME_CHECK`. In the
    message, {0} and {1} stand for the first and the second value. Only for the
    function that has the run's call, because kernels run on other threads.

    Constraints:
    - C1: at most two values

    Example:
    ```mlir
    ingot.require %same, "node 'Add_3': dimension 0 is {0}, not {1}"(%a, %b)
      : index, index
    ```
  }];
  let arguments = (ins I1:$holds, StrAttr:$message, Variadic<Index>:$values);
  let assemblyFormat = [{
    $holds `,` $message (`(` $values^ `)` `:` type($values))? attr-dict
  }];
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Ingot_ObserveOp : Op<Ingot_Dialect, "observe", [
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "shows a tensor to the observer of the run";
  let description = [{
    Calls the run's observer, if there is one, with the tensor's index, type,
    sizes, strides and elements, as soon as they are computed. Layout passes may
    change the order of the dimensions. Only for the function that has the run's
    call.

    Constraints:
    - C1: `number` is not negative

    Example:
    ```mlir
    ingot.observe 3 %x : tensor<1x16x8x8xf32>
    ```
  }];
  let arguments = (ins I64Attr:$number,
                       Arg<AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>, "",
                           [MemRead, MemWrite<Ingot_RunStatus>]>:$x);
  let assemblyFormat = "$number $x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Ingot_BufferOp : Op<Ingot_Dialect, "buffer", [Pure]> {
  let summary = "an input or output of the run, in the host's memory";
  let description = [{
    Replaces the arguments of a function with thousands of inputs and outputs.
    `number` is the index among all of the model's inputs, or outputs. Dynamic
    sizes of the type are those of the run.

    Constraints:
    - C1: `number` is not negative
    - C2: the result has no gaps

    Example:
    ```mlir
    %x = ingot.buffer input 3 of %call : !llvm.ptr -> memref<?x16xf32>
    %y = ingot.buffer output 0 of %call : !llvm.ptr -> memref<4x16xf32>
    ```
  }];
  let arguments = (ins AnyType:$call, UnitAttr:$isOutput, I64Attr:$number);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    (`output` $isOutput^):(`input`)? $number `of` $call attr-dict `:`
    type($call) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Ingot_ChunkOp : Op<Ingot_Dialect, "chunk", [Pure]> {
  let summary = "number of images that pass through layers together";
  let description = [{
    Splits a number of images into chunks of about equal size, with at most
    `per_thread` images for each thread of the run. Returns the size of all
    chunks but the last, which is at least 1. An observed run has one chunk, so
    that each layer ends once.

    Constraints:
    - C1: `per_thread` is positive

    Example:
    ```mlir
    %chunk = ingot.chunk %images per_thread 2 of %call : !llvm.ptr
    ```
  }];
  let arguments = (ins AnyType:$call, Index:$images,
                       ConfinedAttr<I64Attr, [IntPositive]>:$per_thread);
  let results = (outs Index:$size);
  let assemblyFormat = [{
    $images `per_thread` $per_thread `of` $call attr-dict `:` type($call)
  }];
}

def Ingot_RoomOp : Op<Ingot_Dialect, "room", []> {
  let summary = "memory for the computation of an output of dynamic size";
  let description = [{
    Returns the host's buffer for output `number` if it is large enough.
    Otherwise returns memory of the run, which is released when the run ends.
    Only for the function that has the run's call.

    Constraints:
    - C1: `number` is not negative
    - C2: the result has no gaps, and there is an operand for each dynamic size

    Example:
    ```mlir
    %y = ingot.room 0(%n) : memref<?x16xf32>
    ```
  }];
  let arguments = (ins I64Attr:$number, Variadic<Index>:$dynamicSizes);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = [{
    $number `(` $dynamicSizes `)` attr-dict `:` type($result)
  }];
  let extraClassDeclaration = [{
    llvm::SmallVector<mlir::OpFoldResult> getMixedSizes();
  }];
  let hasVerifier = 1;
}

def Ingot_PollOp : Op<Ingot_Dialect, "poll",
                      [MemoryEffects<[MemWrite<Ingot_RunStatus>]>]> {
  let summary = "asks the observer of the run if the run continues";
  let description = [{
    Occurs in each iteration of a model's loop, so that a cancelled run ends
    there. Only for the function that has the run's call.
  }];
  let assemblyFormat = "attr-dict";
}

def Ingot_ListOp : Op<Ingot_Dialect, "list",
                      [MemoryEffects<[MemWrite<Ingot_RunStatus>]>]> {
  let summary = "a new list of tensors, which grows during the run";
  let description = [{
    Holds rows whose number or size only the run knows. Its memory is the host's
    and grows geometrically.

    Example:
    ```mlir
    %rows = ingot.list
    scf.for %i = %c0 to %n step %c1 {
      ingot.append %rows, %x, "node 'Loop_1': rows differ" : tensor<?x4xf32>
    }
    %all = ingot.stack %rows : tensor<?x?x4xf32>
    ```
  }];
  let results = (outs Index:$list);
  let assemblyFormat = "attr-dict";
}

def Ingot_AppendOp : Op<Ingot_Dialect, "append", [
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues",
      "bufferize"]>]> {
  let summary = "copies a tensor to the end of a list";
  let description = [{
    All rows of a list have equal sizes. If a row has other sizes, the run ends
    with `message`.
  }];
  let arguments = (ins Index:$list,
                       Arg<AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>, "",
                           [MemRead, MemWrite<Ingot_RunStatus>]>:$x,
                       StrAttr:$message);
  let assemblyFormat = "$list `,` $x `,` $message attr-dict `:` type($x)";
}

def Ingot_StackOp : Op<Ingot_Dialect, "stack", [
    MemoryEffects<[MemWrite<Ingot_RunStatus>]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface, [
      "bufferizesToAllocation", "resultBufferizesToMemoryWrite",
      "getAliasingOpOperands", "getBufferType", "bufferize"]>]> {
  let summary = "all rows of a list, stacked along the first dimension";
  let description = [{
    Ends the list. The tensor takes over its memory. Dynamic sizes of a list
    without rows are 0.
  }];
  let arguments = (ins Index:$list);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef]>:$all);
  let assemblyFormat = "$list attr-dict `:` type($all)";
}

#endif // INGOT_DIALECTS_INGOT_INGOTOPS_TD
