//===- KernelModule.h - the module of kernels -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_KERNELMODULE_H
#define INGOT_PASSES_CUDA_KERNELS_KERNELMODULE_H

#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::loops {
class KernelTable;
} // namespace ingot::loops

namespace ingot::cuda {

/// Returns the nested module of the kernels, which is created if necessary.
mlir::ModuleOp kernelsOf(mlir::ModuleOp module);

/// Makes a function a kernel with these threads of a block, and these bytes of
/// dynamic shared memory.
void setBlock(mlir::func::FuncOp kernel, int64_t threads, int64_t sharedBytes);

/// Gives a kernel the cycles that the cost model estimates.
void setCycles(mlir::func::FuncOp kernel, int64_t cycles);

/// Launches a kernel, which writes the last `writes` of the arguments.
void launch(mlir::OpBuilder &b, mlir::Location loc, mlir::func::FuncOp kernel,
            mlir::ValueRange arguments, mlir::Value blocks, int64_t writes);

/// Returns the product of sizes of a memref.
mlir::OpFoldResult multiplySizes(mlir::OpBuilder &b, mlir::Location loc,
                                 mlir::Value memref,
                                 llvm::ArrayRef<unsigned> dims);

/// Returns how many blocks make `count` steps of `perBlock` each.
mlir::Value countBlocks(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::OpFoldResult count, int64_t perBlock);

/// Ends the run if a memref of open size has more elements than a kernel
/// counts.
void requireCounted(mlir::OpBuilder &b, mlir::Location loc,
                    mlir::ValueRange memrefs);

/// Calls `outline` for each op on memrefs for which `isOutlined` holds, with
/// the table of the module's kernels. Returns how many kernels an equal op had
/// made.
int64_t outlineOps(
    mlir::ModuleOp module,
    llvm::function_ref<bool(mlir::Operation *)> isOutlined,
    llvm::function_ref<void(mlir::Operation *, loops::KernelTable &)> outline);

/// Replaces each op in `kernels` for which `isEmitted` holds by the code that
/// `emit` writes.
void emitKernels(
    mlir::ModuleOp kernels,
    llvm::function_ref<bool(mlir::Operation *)> isEmitted,
    llvm::function_ref<void(mlir::OpBuilder &, kernel::EpilogueOpInterface)>
        emit);

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_KERNELMODULE_H
