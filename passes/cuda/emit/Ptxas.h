//===- Ptxas.h - NVIDIA's assembler of PTX ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_EMIT_PTXAS_H
#define INGOT_PASSES_CUDA_EMIT_PTXAS_H

#include "mlir/IR/Location.h"

#include <string>

namespace ingot::cuda {

/// Returns the path of ptxas: `asked`, or the one that the build found. Returns
/// "" if there is none. A ptxas in the PATH does not count: another version
/// gives other bytes, which older drivers may refuse.
std::string findPtxas(llvm::StringRef asked);

/// Assembles PTX for one compute capability with the program `ptxas`. Returns
/// the bytes of a cubin. Fails with a diagnostic at `loc`.
mlir::FailureOr<std::string> assemble(mlir::Location loc, llvm::StringRef ptx,
                                      unsigned level, llvm::StringRef ptxas);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_EMIT_PTXAS_H
