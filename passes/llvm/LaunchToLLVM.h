//===- LaunchToLLVM.h - cpu.launch to LLVM ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LLVM_LAUNCHTOLLVM_H
#define INGOT_PASSES_LLVM_LAUNCHTOLLVM_H

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir {
class ConversionPatternRewriter;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace ingot::codegen {

/// The functions of the module that code refers to, by name: the module itself
/// would look through all that it has.
struct Functions {
  /// One of runtime/support, declared if it is not yet.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp>
  support(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef name,
          llvm::ArrayRef<mlir::Type> parameters, mlir::Type result);

  llvm::StringMap<mlir::LLVM::LLVMFuncOp> byName;
  /// How often each kernel was launched so far.
  llvm::StringMap<int64_t> launches;
};

/// The run's ingot_abi_call: the last argument of the function around `op`;
/// null if it has none.
mlir::Value callArgument(mlir::Operation *op);

/// See runtime/support: ends a run that finds something false.
constexpr llvm::StringLiteral kRequire = "ingot_support_require";

/// Calls function `name` of runtime/support, in behalf of `op`, with the run's
/// call and `arguments`.
mlir::FailureOr<mlir::LLVM::CallOp>
callSupport(Functions &functions, mlir::OpBuilder &b, mlir::Operation *op,
            llvm::StringRef name, mlir::Type result, mlir::Value call,
            mlir::ValueRange arguments);

/// Room for `numWords` words that a call of `op` hands over, in the entry of
/// the function around it: one place for all, or the stack would have to grow
/// with the model.
mlir::Value getFrame(mlir::Operation *op, int64_t numWords,
                     mlir::ConversionPatternRewriter &rewriter);

/// A launch becomes a call of `ingot_support_parallel` with a function that
/// runs one task, and the addresses and sizes that the kernel takes.
void populateLaunchToLLVM(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          Functions &functions);

/// What loops of the model ask of the runtime: polls and lists. `texts` counts
/// messages.
void populateListToLLVM(const mlir::LLVMTypeConverter &converter,
                        mlir::RewritePatternSet &patterns,
                        Functions &functions, int64_t &texts);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_LAUNCHTOLLVM_H
