//===- ProgramRecord.h - metadata about code for GPUs -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_EMIT_PROGRAMRECORD_H
#define INGOT_PASSES_CUDA_EMIT_PROGRAMRECORD_H

#include "passes/cuda/emit/Ptxas.h"

#include "mlir/IR/BuiltinOps.h"

namespace ingot::cuda {

/// The images of the kernels.
struct Images {
  /// PTX for a compute capability and all later ones.
  std::string ptx;
  unsigned ptxLevel = 0;
  llvm::SmallVector<Cubin> cubins;
  /// The version of the ptxas that made the cubins, or "".
  std::string ptxas;
};

/// Adds an entry to the module's metadata that describes images and kernels,
/// and the nodes that the CPU computes. `ingot inspect` reads it.
void recordProgram(mlir::ModuleOp module, mlir::ModuleOp kernels,
                   const Images &images);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_EMIT_PROGRAMRECORD_H
