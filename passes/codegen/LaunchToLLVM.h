//===- LaunchToLLVM.h - cpu.launch to LLVM ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CODEGEN_LAUNCHTOLLVM_H
#define INGOT_PASSES_CODEGEN_LAUNCHTOLLVM_H

namespace mlir {
class LLVMTypeConverter;
class Operation;
class RewritePatternSet;
class Value;
} // namespace mlir

namespace ingot::codegen {

/// The run's ingot_abi_call: the last argument of the function around `op`; null
/// if it has none.
mlir::Value callArgument(mlir::Operation *op);

/// A launch becomes a call of `ingot_support_parallel` with a function that
/// runs one task, and the addresses and sizes that the kernel takes.
void populateLaunchToLLVM(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);

} // namespace ingot::codegen

#endif // INGOT_PASSES_CODEGEN_LAUNCHTOLLVM_H
