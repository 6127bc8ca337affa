//===- BufferToLLVM.h - ingot.buffer to LLVM --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_BUFFERTOLLVM_H
#define INGOT_PASSES_LLVM_BUFFERTOLLVM_H

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace ingot::codegen {

/// Lowers a buffer of the run to loads from its ingot_abi_call.
void populateBufferToLLVM(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_BUFFERTOLLVM_H
