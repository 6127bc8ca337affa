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
  let summary = "Lower products to kernels of GPUs";
  let description = [{
    `nn.conv` becomes `cuda.conv`, and `nn.matmul` becomes `cuda.matmul`, if
    `ingot.backend` names the backend of GPUs and a kernel computes the op
    (`CudaSupport.h`). Constant weights get the form of the kernel: a row for
    each column of the result. The factors have the type that
    `ingot.precision` names, else f32. With tf32 they stay f32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::ingot::cuda::CudaDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::ingot::nn::NNDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // INGOT_PASSES_CUDA_LOWER_PASSES_TD
