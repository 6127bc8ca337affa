//===- Ptx.h - translation of kernels to PTX --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_EMIT_PTX_H
#define INGOT_PASSES_CUDA_EMIT_PTX_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace ingot::cuda {

/// Translates a module in the LLVM and NVVM dialects to PTX 8.0 for compute
/// capability `level` and later ones. Equal modules give equal text. Fails with
/// a diagnostic.
mlir::FailureOr<std::string> translateToPtx(mlir::ModuleOp kernels,
                                            unsigned level);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_EMIT_PTX_H
