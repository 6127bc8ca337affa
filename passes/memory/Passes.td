//===- memory/Passes.td - passes for buffers and entry -----*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_PASSES_TD
#define INGOT_PASSES_MEMORY_PASSES_TD

include "mlir/Pass/PassBase.td"

def Bufferize : Pass<"ingot-bufferize", "::mlir::ModuleOp"> {
  let summary = "Run one-shot bufferization, with copies as linalg loops";
  let description = [{
    Bufferizes across functions, whose arguments and results get the identity
    layout. Copies become `linalg` ops instead of `memref.copy`, which would
    call a function that only MLIR's own runner has.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"];
}

def ChainImages : Pass<"chain-images", "::mlir::func::FuncOp"> {
  let summary = "Run a batch through several layers a few images at a time";
  let description = [{
    Puts neighbouring layers into a loop over chunks of images, if each layer
    computes each image independently. Buffers that only these layers use have
    the size of one chunk, so that they stay in the cache from one layer to the
    next.

    A chain has layers whose images take more memory than their weights, since
    weights are read once for each chunk. `ingot.chunk` computes the number of
    images of a chunk: enough for all threads of the run. The results have equal
    bits, because each image goes through the same kernels.

    A batch of one image, images of dynamic size, and layers far from any
    convolution or pooling stay as they are.

    Example:
    ```mlir
    cpu.conv ins(%x, %v …) outs(%t : memref<8x56x56x64xf32>)
    cpu.conv ins(%t, %w …) outs(%y : memref<8x56x56x64xf32>)
    ```
    becomes
    ```mlir
    %step = ingot.chunk %c8 per_thread 1 of %call
    scf.for %i = %c0 to %c8 step %step {
      %rest = arith.subi %c8, %i
      %n = arith.minui %rest, %step
      %t = memref.alloc(%n) : memref<?x56x56x64xf32>
      cpu.conv ins(%x[%i, …], %v …) outs(%t : memref<?x56x56x64xf32>)
      cpu.conv ins(%t, %w …) outs(%y[%i, …] …)
    }
    ```
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numChains", "chains", "chains of layers">,
    Statistic<"numLayers", "layers", "layers in chains">];
}

def CheckSizes : Pass<"ingot-check-sizes", "::mlir::ModuleOp"> {
  let summary = "Check that computed sizes fit into 64 bits";
  let description = [{
    Sums, differences and products of sizes wrap around if an input is large
    enough, for example a tensor without elements. Each size that the run's
    function computes gets an `ingot.require` with the name of its node. A size
    is not checked if no sizes of inputs within `ingot.shape_profiles` can make
    it wrap.

    Sizes that depend only on the sizes of inputs are checked at the function's
    entry. The check is in a branch that a run takes only if an input is large;
    other runs do one comparison. A size is not checked if the check of another
    size covers it for all sizes of inputs: 2 n fits if 3 n + m does. A value
    from data that is clamped by sizes of inputs or constants counts as such a
    size. Other sizes that data decide are checked where they are computed.

    Example:
    ```mlir
    %twice = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
    ```
    gets
    ```mlir
    %isLarge = arith.cmpi uge, %n, %c1099511627776 : index
    scf.if %isLarge {
      %0 = arith.index_cast %n : index to i64
      %1 = arith.sitofp %0 : i64 to f64
      %2 = arith.mulf %1, %cst : f64
      %fits = arith.cmpf olt, %2, %limit : f64
      ingot.require %fits, "node 'Concat_1': a size is too large: …"
    }
    ```
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numChecked", "checked", "Sizes that a run checks">];
}

def CollectWeights : Pass<"collect-weights", "::mlir::ModuleOp"> {
  let summary = "Place large constants in one block of weights";
  let description = [{
    Constant `memref.global`s become views of the argument that holds the
    weights, at multiples of 64 bytes. Equal constants share a view. The
    module's attribute `ingot.weights` lists the values with their offsets, and
    `ingot.weights_bytes` is their total size.
  }];
  let options = [
      Option<"takeAll", "take-all", "bool", "false",
             "also take small constants, which are otherwise part of the "
             "code">];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
}

def EliminateEmpties : Pass<"ingot-eliminate-empties", "::mlir::ModuleOp"> {
  let summary =
      "Let ops write directly into the tensor that takes their result";
  let description = [{
    Gives each use of a `tensor.empty` an op of its own. If an op's result is
    inserted into another tensor, or is an output of the model, a slice of that
    tensor replaces the op's `tensor.empty`. Upstream's
    `eliminate-empty-tensors` does the same, but its time grows with the cube of
    a chain's length.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def InstrumentLayers : Pass<"instrument-layers", "::mlir::ModuleOp"> {
  let summary = "Let an observer follow a run layer by layer";
  let description = [{
    Neighbouring top-level ops that come from the same ONNX nodes, by their
    locations, form a layer. Behind the last op of a layer, the pass adds a call
    of the run's observer, which runs only if there is an observer. The call
    passes the layer's number of arithmetic operations and bytes. If these
    depend on dynamic sizes, a function `@tell_layer` computes them, which
    layers with equal formulas share. The observer may end the run.

    The module's attribute `ingot.layers` lists the kind, nodes, operations and
    bytes of each layer. A 0 stands for a number that only the run knows, or
    that is unknown.

    The pass applies to the function that has the run's call as an argument.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def OutlineInference : Pass<"outline-inference", "::mlir::ModuleOp"> {
  let summary =
      "Create a function that computes the sizes of a run without its work";
  let description = [{
    Applies to functions that compute the model and have outputs or buffers of
    dynamic sizes. For each, the pass creates a function with the run's call as
    its argument. It performs the run's checks of sizes, writes the sizes of the
    outputs, and reports to the host which memory the run requests and releases.

    Sizes that are read from memory, and branches and loops that create buffers,
    depend on data. The function reports these as unknown. `ingot.infers` names
    the function that it describes.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

def PlaceOutputs : Pass<"ingot-place-outputs", "::mlir::func::FuncOp"> {
  let summary = "Compute outputs of dynamic size in the host's memory";
  let description = [{
    Replaces a buffer by an `ingot.room`, if it is a whole output and nothing
    writes to it after it is passed to the host. The room is the host's memory
    for the output, if that is large enough. The host then need not copy the
    output. Buffers of branches and loops, and parts of buffers, stay as they
    are.
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
  let statistics = [Statistic<"numPlaced", "placed", "outputs placed">];
}

def PlaceState : Pass<"ingot-place-state", "::mlir::func::FuncOp"> {
  let summary = "Choose the storage of branch results and loop states";
  let description = [{
    With static sizes, all branches of an `scf.if` write to one buffer. Each
    step of a loop writes its state over the previous one, after all reads of
    the previous state. A state that moves to the position of another state is
    copied first.

    With dynamic sizes, each branch and each step copies its result to a buffer
    of its own. `plan-memory` releases the buffer of the previous step. Results
    that are already written in place stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BoundBuffers : Pass<"bound-buffers", "::mlir::ModuleOp"> {
  let summary = "Find upper bounds for buffers of dynamic size";
  let description = [{
    If `ingot.shape_profiles` bound the sizes of inputs, and no other sizes can
    run, then buffer sizes that follow from them have bounds, too. The attribute
    `ingot.most_bytes` of the `memref.alloc` holds the largest size. The pass
    skips buffers whose size data decide, buffers of loops and branches, and
    buffers of more than 2^47 bytes.
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def PlaceChunks : Pass<"place-chunks", "::mlir::func::FuncOp"> {
  let summary = "Combine the buffers of a chunk of images into one buffer";
  let description = [{
    Works on loops over chunks of images. The buffers that a step allocates
    become views of one buffer in front of the loop. A run thus requests memory
    once, and its size is known before the loop. Buffers with disjoint lifetimes
    share bytes: offsets are found for one image and multiplied by the number of
    images of a chunk.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer of known size an offset in one arena";
  let description = [{
    The lifetime of a buffer extends from the first to the last op that accesses
    the buffer or a view of it. Ops that only create views do not count. A size
    is known if it is static or has `ingot.most_bytes`.

    The attributes `ingot.arena_bytes`, `ingot.arena_lower_bound` and
    `ingot.memory_plan` (rows of offset, bytes, first, last) hold the sizes and
    the plan. Any other buffer stays a `memref.alloc`, directly before the first
    op that accesses it, and gets a `memref.dealloc`.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
}

def PrepareEntry : Pass<"prepare-entry", "::mlir::ModuleOp"> {
  let summary = "Give @forward the signature with which an artifact runs it";
  let description = [{
    Inputs become memrefs. An output of static shape becomes a memref to write
    to. It absorbs reshapes at the end of the function, so that the op in front
    of these writes directly to it. An output of dynamic shape is passed to the
    host as soon as it is computed.

    Behind these arguments follow the weights and the arena (`memref<?xi8>`) and
    the run's `ingot_abi_call` (`!llvm.ptr`), identified by their
    `ingot.operand`. Elements of less than a byte are unpacked at the entry and
    packed at the exit. The memref of such a tensor has the sizes of its
    elements, while its memory holds packed bytes. Names and types move into the
    module's attributes `ingot.inputs` and `ingot.outputs`.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::affine::AffineDialect",
    "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
    "::mlir::tensor::TensorDialect"];
}

def ReuseEpilogueOperands : Pass<"kernel-reuse-epilogue-operands"> {
  let summary =
      "Let kernels write over an epilogue operand without other users";
  let description = [{
    The epilogue of a kernel may read an intermediate value of the result's
    type. If this is the last use of the value, the value replaces the
    `tensor.empty` as the kernel's destination. Thus the residual of a block is
    added in place.
  }];
}

def ReuseOperands : Pass<"linalg-reuse-operands"> {
  let summary = "Let elementwise ops write over an operand without other users";
  let description = [{
    A `linalg.generic` may read each element of an intermediate value only where
    it writes its result. If this is the last use of the value, the value
    replaces the `tensor.empty` as the destination.
  }];
}

def SkipEmptyLoops : Pass<"ingot-skip-empty-loops", "::mlir::func::FuncOp"> {
  let summary = "Skip loop nests that write only to empty buffers";
  let description = [{
    A nest of loops over 2^40 rows without elements would take 2^40 steps and
    write nothing. The outermost loop gets zero steps if all buffers that it
    writes to are empty in a run. Loops with other effects, and loops that write
    to a buffer of static size, stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numSkipped", "guarded", "Loops that may be skipped">];
}

def SkipUnread : Pass<"ingot-skip-unread", "::mlir::func::FuncOp"> {
  let summary = "Leave out buffers whose users compute only empty results";
  let description = [{
    The means of 2^40 rows without elements are 2^40 numbers, but a result
    without elements reads none of them. The readers of a buffer may write only
    to buffers that are empty in a run. The buffer then gets no elements, and
    its writers do not run. The pass skips buffers that are empty in this case
    anyway, and buffers whose readers have other effects than writing.

    Example:
    ```mlir
    %means = memref.alloc(%n) : memref<?xf32>
    // loops that write %means
    %y = ingot.room 0(%n, %m) : memref<?x?xf32>
    // loops that read %means and write %y
    ```
    gets
    ```mlir
    %isEmpty = … // %n = 0 or %m = 0
    %size = arith.select %isEmpty, %c0, %n : index
    %means = memref.alloc(%size) : memref<?xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numSkipped", "skipped", "Buffers that may be left out">];
}

#endif // INGOT_PASSES_MEMORY_PASSES_TD
