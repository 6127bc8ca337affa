//===- cuda/lower/Passes.td - from nn to kernels of GPUs ---*- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_LOWER_PASSES_TD
#define INGOT_PASSES_CUDA_LOWER_PASSES_TD

include "mlir/Pass/PassBase.td"

def NNToCuda : Pass<"nn-to-cuda", "::mlir::func::FuncOp"> {
  let summary = "Lower nn ops to kernels of GPUs";
  let description = [{
    `nn.conv` becomes `cuda.conv`, or `cuda.depthwise_conv` if each channel is
    a group, and `nn.matmul` becomes `cuda.matmul`, if
    `ingot.backend` names the backend of GPUs and a kernel computes the op
    (`CudaSupport.h`). Constant weights get the form of the kernel: a row for
    each column of the result. The factors have the type that
    `ingot.precision` names, else f32. With tf32 they stay f32.

    `nn.softmax` becomes `cuda.softmax`, `nn.layer_norm` and `nn.rms_norm`
    become `cuda.row_norm`, and `nn.group_norm` becomes `cuda.group_norm`, under
    the same conditions. A reduction of neighboring dimensions becomes
    `cuda.reduce` if others follow, and `nn.max_pool` and `nn.avg_pool` with
    channels last become `cuda.pool`. `nn.top_k` becomes `cuda.top_k`, and so
    does `nn.arg_reduce` of a few long rows. `nn.cumsum` becomes `cuda.scan`.
    `nn.resize` of neighboring dimensions becomes `cuda.resample`.

    `nn.scatter_elements` and `nn.scatter_nd` become `cuda.scatter`. Its items
    are made from the indices, which a check compares with the sizes. If many
    updates may have one position, `cuda.sort` sorts the items.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cuda::CudaDialect",
                           "::ingot::IngotDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::ingot::nn::NNDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CudaFuseAttention : Pass<"cuda-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "Fuse an attention into one kernel of GPUs";
  let description = [{
    `softmax(scale * q kᵀ + mask) v` becomes `cuda.attention`. Elements must be
    `f32`, sizes must be static, heads within the kernel's bounds, and the
    scores must have no other use. Masks and transposes are fused as those of
    `nn-fuse-attention` are.

    The factors are of bf16 if both products are assigned bf16. With `half` of
    fp16 they are of f16, unless a rule of `keep` names one of the nodes. Else
    they are of f32, also for tf32.
  }];
  let options = [
    Option<"half", "half", "::ingot::Precision", "::ingot::Precision::fp32",
           "Precision that the user asked for",
           [{::llvm::cl::values(
               clEnumValN(::ingot::Precision::fp32, "fp32", "float32"),
               clEnumValN(::ingot::Precision::tf32, "tf32", "tf32"),
               clEnumValN(::ingot::Precision::bf16, "bf16", "bfloat16"),
               clEnumValN(::ingot::Precision::fp16, "fp16", "float16"))}]>,
    ListOption<"keep", "keep", "std::string",
               "Nodes that stay f32: GLOB=fp32">];
  let dependentDialects = ["::ingot::cuda::CudaDialect",
                           "::ingot::nn::NNDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"fused", "fused", "attentions that are fused">];
}

#endif // INGOT_PASSES_CUDA_LOWER_PASSES_TD
