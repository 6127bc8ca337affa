//===- CudaDialect.h - cuda dialect -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CUDA_CUDADIALECT_H
#define INGOT_DIALECTS_CUDA_CUDADIALECT_H

#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot::cuda {

/// Returns true if the epilogue of a kernel can read elements of the type.
bool canEpilogueRead(mlir::Type element);

} // namespace ingot::cuda

#include "dialects/cuda/CudaEnums.h.inc"

// The dialect's class uses the attributes.
#define GET_ATTRDEF_CLASSES
#include "dialects/cuda/CudaAttrs.h.inc"

#include "dialects/cuda/CudaDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/cuda/CudaOps.h.inc"

namespace ingot::cuda {

/// Name of the backend that computes everything on a GPU.
constexpr llvm::StringLiteral kBackend = "cuda";
/// Name of the driver in the artifact's table of dependencies.
constexpr llvm::StringLiteral kLibrary = "cuda";
/// Name of the nested module that holds the kernels.
constexpr llvm::StringLiteral kKernels = "ingot_cuda_kernels";
/// The most bytes of shared memory that every GPU from sm_80 on gives a block.
constexpr int64_t kMaxSharedBytes = 99 << 10;
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kWarp = 32;
/// Bytes of the widest access of a thread, and of a row of a matrix of
/// `ldmatrix`.
constexpr int64_t kAccessBytes = 16;

/// Lets the kernels be bufferized.
void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace ingot::cuda

#endif // INGOT_DIALECTS_CUDA_CUDADIALECT_H
