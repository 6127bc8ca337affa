//===- LLVMPipeline.h - the tail of all CPU code ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_LLVMPIPELINE_H
#define INGOT_PASSES_LLVM_LLVMPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace ingot {

/// Adds the passes that lower the kernels of all backends, and the run that
/// launches them, to the LLVM dialect.
void buildLLVMPipeline(mlir::OpPassManager &passes);

} // namespace ingot

#endif // INGOT_PASSES_LLVM_LLVMPIPELINE_H
