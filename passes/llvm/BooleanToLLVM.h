//===- BooleanToLLVM.h - booleans in memory to LLVM -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_BOOLEANTOLLVM_H
#define INGOT_PASSES_LLVM_BOOLEANTOLLVM_H

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace ingot::codegen {

/// Loads and stores a boolean in memory as a byte. LLVM does not vectorize a
/// loop that loads or stores `i1`.
void populateBooleanToLLVM(const mlir::LLVMTypeConverter &converter,
                           mlir::RewritePatternSet &patterns);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_BOOLEANTOLLVM_H
