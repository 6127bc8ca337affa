//===- lower/Passes.td - passes from nn to what runs -------*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOWER_PASSES_TD
#define INGOT_PASSES_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeConvTranspose
    : Pass<"cpu-decompose-conv-transpose", "::mlir::func::FuncOp"> {
  let summary = "Turn transposed convolutions into convolutions";
  let description = [{
    The pixels of the result that lie a stride apart see the same taps of the
    kernel, flipped: they are an ordinary convolution of the source with these
    taps, the sub-pixel convolution of one phase. Each phase writes its pixels
    where they belong, a slice with steps of the destination; its epilogue goes
    along. Nothing is multiplied with zeros between pixels.

    Where all phases of the last dimension read the same pixels (the kernel is as
    wide as the stride and nothing is cut off) they are one convolution with as
    many times the output channels, whose results lie together in memory.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cpu::CpuDialect",
                           "::ingot::nn::NNDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FlattenKernels : Pass<"cpu-flatten-kernels", "::mlir::func::FuncOp"> {
  let summary = "Turn kernels over many dimensions into matrix products";
  let description = [{
    A convolution with a 1x1 kernel, no padding and no strides is the product of
    the matrix of all pixels with the weights; a batched product with one right
    factor is the product of all rows. A product of two matrices tiles best.
    Left alone where an epilogue operand broadcasts along some of the dimensions
    or the result goes into a slice with steps.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect",
                           "::mlir::tensor::TensorDialect"];
}

def AssignKernels : Pass<"nn-assign-kernels", "::mlir::func::FuncOp"> {
  let summary = "Say which nn ops oneDNN computes";
  let description = [{
    Ops that compute one of the given ONNX nodes get the attribute
    `ingot.backend = #ingot.backend<onednn>`, all others `native`; `nn-to-dnnl` and `nn-to-cpu`
    act on it. It is an error if no op computes one of the nodes.
  }];
  let options = [ListOption<"onednn", "onednn", "std::string",
                            "ONNX nodes that oneDNN computes">];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FuseAttention : Pass<"nn-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Make one kernel of scores, softmax and their product";
  let description = [{
    `softmax(scale * q kᵀ + mask) v` becomes `cpu.attention`: `f32`, sizes known
    and within the kernel's bounds, scores used by nothing else. Scale and mask
    may be missing; a scale may stand at the queries or be a division.
    Transposes that bring heads to the front are taken along. Products that bf16
    was assigned to stay as they are.
  }];
  let dependentDialects = ["::ingot::cpu::CpuDialect",
                           "::ingot::nn::NNDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NNToCpu : Pass<"nn-to-cpu", "::mlir::func::FuncOp"> {
  let summary = "Give heavy nn ops to native kernels";
  let description = [{
    Convolutions, transposed ones too, and matrix products become `cpu` ops:
    `f32`, data channels-last and of known size but for the batch. Constant weights are packed here, once
    and for all CPU levels; a right factor that is known in a run only is packed
    by the run. All else stays for `nn-to-linalg`. An op with the attribute
    `ingot.backend = #ingot.backend<loops>` is left alone.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::cpu::CpuDialect",
    "::mlir::linalg::LinalgDialect", "::ingot::nn::NNDialect",
    "::mlir::tensor::TensorDialect"];
}

def ConvertDnnlToCalls : Pass<"convert-dnnl-to-calls", "::mlir::ModuleOp"> {
  let summary = "Turn dnnl ops on memrefs into calls of the oneDNN glue";
  let description = [{
    Each op becomes a record of the constant table that `ingot/abi/dnnl.h`
    describes, and a call that names it, with the addresses of its memrefs and
    its dynamic sizes. Weights, being views of the argument marked
    the weights at a constant offset, go into the record instead: they are
    rearranged once, when the model is loaded. The run is passed on from the
    argument that is the call. The module gets `@ingot_load`, which hands the
    table to the glue, `@ingot_unload`, and the attribute `ingot.needs_onednn`.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

def NNToDnnl : Pass<"nn-to-dnnl", "::mlir::func::FuncOp"> {
  let summary = "Give heavy nn ops to oneDNN";
  let description = [{
    Convolutions and transposed convolutions, matrix products, pooling, softmax
    and layer normalization become `dnnl` ops where oneDNN computes them: `f32`,
    spatial data channels-last, weights of static shape, windows that touch the
    input. All else stays for `nn-to-linalg`. An op with the attribute
    `ingot.backend = #ingot.backend<loops>` is left alone: here kernels are chosen per op.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::ingot::dnnl::DnnlDialect",
    "::ingot::nn::NNDialect", "::mlir::tensor::TensorDialect"];
}

def NNToLinalg : Pass<"nn-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower nn ops to linalg, tensor, arith and math";
  let description = [{
    Also drops the sign of integer types: `ui8` tensors become `i8`, their ops
    having been lowered by sign. Elementwise ops become `linalg.generic`s with
    broadcasting in the indexing maps; a dimension that may or may not broadcast
    in a run is decided there.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def LinalgFillSplats : Pass<"linalg-fill-splats"> {
  let summary = "Fill buffers that hold one number rather than store them";
  let description = [{
    A constant that is one number everywhere takes no memory in the compiler, but
    all of its size in the artifact. Where it is large, each of its uses gets a
    buffer of the arena that is filled in the run. Weights that oneDNN
    rearranges once stay constants.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"minBytes", "min-bytes", "int64_t", "65536",
           "Smaller constants are stored">];
  let statistics = [Statistic<"filled", "filled", "Constants that are filled">];
}

#endif // INGOT_PASSES_LOWER_PASSES_TD
