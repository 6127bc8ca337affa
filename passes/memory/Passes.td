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
  let summary = "One-shot bufferization, with copies as linalg loops";
  let description = [{
    Across functions, whose arguments and results get the identity layout. A
    copy is a `linalg` op and not `memref.copy`, which would call a function
    that only MLIR's own runner has.
  }];
  let dependentDialects = [
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect",
    "::mlir::vector::VectorDialect"];
}

def ChainPictures : Pass<"chain-pictures", "::mlir::func::FuncOp"> {
  let summary = "Take a batch through layers a few pictures at a time";
  let description = [{
    Puts neighbouring layers into a loop over chunks of pictures, if each layer
    computes each picture by itself. Buffers that only these layers use have the
    pictures of one chunk, which stay in the cache from one layer to the next.

    A chain has layers whose pictures take more memory than their weights, since
    weights are read once for each chunk. `ingot.chunk` says how many pictures a
    chunk has: enough for all threads of the run. Results have the same bits, as
    each picture goes through the same kernels.

    A batch of one picture, pictures of open size and layers far from any
    convolution or pooling are left alone.

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
    Sums, differences and products of sizes wrap around where an input is large
    enough, which a tensor without elements may be. Each size that the run's
    function computes gets an `ingot.require` with the name of its node, unless
    sizes of inputs within `ingot.shape_profiles` cannot make it wrap.

    Sizes that depend on inputs alone are checked at the function's entry, in a
    branch that a run takes only if an input is large: one comparison for all
    other runs. A size is not checked if the check of another one covers it for
    all sizes of inputs: 2 n fits if 3 n + m does. What data say depends on
    inputs alone, too, where it is held within their sizes or constants. A size
    that data decide is checked where it is computed.

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
    Constant `memref.global`s become views of the argument marked
    the weights, at multiples of 64 bytes, equal ones once. The module's
    attribute `ingot.weights` lists values with their offsets, and
    `ingot.weights_bytes` is their extent.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
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

def InstrumentLayers : Pass<"instrument-layers", "::mlir::ModuleOp"> {
  let summary = "Let an observer follow a run layer by layer";
  let description = [{
    Top-level ops that follow each other and come from the same ONNX nodes, as
    their locations say, are a layer. Behind its last op goes a call of the
    run's observer, taken only where there is one, with the layer's arithmetic
    operations and bytes; what depends on dynamic sizes a function of its own
    computes, `@tell_layer`, which layers of equal arithmetic share. The
    module's attribute `ingot.layers` lists kind, nodes, flops and bytes (0: a
    run tells, or unknown). The observer may end the run there.

    Applies to the function with the call as an argument.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::LLVM::LLVMDialect"];
}

def OutlineInference : Pass<"outline-inference", "::mlir::ModuleOp"> {
  let summary = "Write what a run's sizes decide as a function of its own";
  let description = [{
    Beside each function that computes the model, and whose outputs or buffers
    have open sizes, goes one with the run's call as its argument. It checks
    what the run checks of sizes, writes the sizes of the outputs, and tells the
    host which memory the run asks for and gives back, without any work. What
    data decide it says so of: of sizes that are read from memory, and of
    branches and loops that make buffers. `ingot.infers` names the function that
    it speaks of.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

def PlaceOutputs : Pass<"ingot-place-outputs", "::mlir::func::FuncOp"> {
  let summary = "Compute outputs of open size in the host's memory";
  let description = [{
    A buffer that is all of an output, and that nothing writes to once it has
    been handed to the host, becomes an `ingot.room`: the host's memory for the
    output, where that has room. What is handed over from there is not copied.
    Left alone are buffers of branches and loops, and what is a part of one.
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
  let statistics = [Statistic<"numPlaced", "placed", "outputs placed">];
}

def PlaceState : Pass<"ingot-place-state", "::mlir::func::FuncOp"> {
  let summary = "Say where what branches give and loops carry is stored";
  let description = [{
    Of known size, all branches of an `scf.if` write to one place, and each step
    of a loop writes its state over the one before, once all that it reads is
    read; a state that moves to another's place is copied first. Of open size,
    each branch and each step makes a copy, which is its own: plan-memory gives
    back that of the step before. What is written in place already is left.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BoundBuffers : Pass<"bound-buffers", "::mlir::ModuleOp"> {
  let summary = "Find how large buffers of open size can be";
  let description = [{
    Where `ingot.shape_profiles` bound the sizes of inputs, and no others run,
    the sizes of buffers that follow from them are bounded, too: the largest is
    left in `ingot.most_bytes` of the `memref.alloc`. Left alone are those whose
    size data decide, those of loops and branches, and those of more than 2^47
    bytes.
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def PlaceChunks : Pass<"place-chunks", "::mlir::func::FuncOp"> {
  let summary = "Give the buffers of a chunk of pictures places in one buffer";
  let description = [{
    The buffers that a step of a loop over pictures makes become views of one
    buffer in front of the loop, so that a run asks for memory once, and knows
    how much before it begins. Buffers that do not live at the same time share
    their bytes: offsets are found for one picture, and multiplied by the number
    of pictures in a chunk.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"plan-memory", "::mlir::ModuleOp"> {
  let summary = "Give every buffer of known size an offset in one arena";
  let description = [{
    Lifetimes go from the first to the last op that touches a buffer or a view
    of it; one that only makes a view does not.
    Sizes and plan are left in `ingot.arena_bytes`, `ingot.arena_lower_bound`
    and `ingot.memory_plan` (rows of offset, bytes, first, last). Known is what
    is static or has `ingot.most_bytes`. A buffer of any other size stays a
    `memref.alloc`, in front of the first op that touches it, and gets its
    `memref.dealloc`.
  }];
  let dependentDialects = [
    "::ingot::IngotDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect"];
}

def PrepareEntry : Pass<"prepare-entry", "::mlir::ModuleOp"> {
  let summary = "Give @forward the form in which an artifact runs it";
  let description = [{
    Inputs become memrefs; an output of static shape becomes a memref to write
    to, which takes on the reshapes at the result's end, so that the op in front
    of them writes there; one of dynamic shape is handed to the host as soon as
    it is computed. Behind them come the weights and the arena (`memref<?xi8>`)
    and the run's `ingot_abi_call` (`!llvm.ptr`), told apart by their
    `ingot.operand`. Elements of less than a byte are unpacked as they come in,
    and packed as they go out: the memref of such a tensor has the sizes of its
    elements, its memory their bytes without gaps. Names and types move into the
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
  let summary = "Let kernels write over an epilogue operand nobody else needs";
  let description = [{
    A kernel whose epilogue reads an intermediate value of the result's type,
    which nobody needs afterwards, takes that value instead of a fresh
    `tensor.empty` as destination: the residual of a block is summed to in
    place.
  }];
}

def ReuseOperands : Pass<"linalg-reuse-operands"> {
  let summary = "Let elementwise ops write over an operand nobody else needs";
  let description = [{
    A `linalg.generic` that reads an intermediate value only where it writes its
    result takes that value, instead of a fresh `tensor.empty`, as destination.
  }];
}

def SkipEmptyLoops : Pass<"ingot-skip-empty-loops", "::mlir::func::FuncOp"> {
  let summary = "Skip loop nests that write to empty buffers only";
  let description = [{
    A nest of loops over 2^40 rows of no elements takes 2^40 steps and writes
    nothing. The outermost loop gets no steps where all buffers that it writes
    to are empty in this run. Loops that do more than to write, and those that
    write to a buffer of known size, stay as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
  let statistics = [
    Statistic<"numSkipped", "guarded", "Loops that may be skipped">];
}

def SkipUnread : Pass<"ingot-skip-unread", "::mlir::func::FuncOp"> {
  let summary = "Make no buffers for rows whose result nobody reads";
  let description = [{
    The means of 2^40 rows of no elements are as many numbers, of which a result
    without elements reads none. Where all that the readers of a buffer write to
    is empty in this run, the buffer has no elements, and what writes to it does
    not run. Left alone are buffers that are empty then anyway, for they have
    the sizes of what reads them, and those whose readers do more than to write.

    Example:
    ```mlir
    %means = memref.alloc(%n) : memref<?xf32>
    // writes %means, and reads it to write to
    %y = ingot.room 0(%n, %m) : memref<?x?xf32>
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
