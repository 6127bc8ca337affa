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

/// The functions that code refers to, by name. The table avoids look-ups in the
/// module, each of which would search all symbols.
struct Functions {
  /// Returns a function of runtime/support, which is declared on first use.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp>
  support(mlir::OpBuilder &builder, mlir::Operation *op, llvm::StringRef name,
          llvm::ArrayRef<mlir::Type> parameters, mlir::Type result);

  llvm::StringMap<mlir::LLVM::LLVMFuncOp> byName;
  /// The number of launches of each kernel so far.
  llvm::StringMap<int64_t> launches;
};

/// Returns the run's ingot_abi_call, the last argument of the function around
/// `op`. Returns null if the function has none.
mlir::Value callArgument(mlir::Operation *op);

/// The function of runtime/support that ends a run if a condition is false.
constexpr llvm::StringLiteral kRequire = "ingot_support_require";

/// Calls function `name` of runtime/support for `op`. The first one of
/// `arguments` is the run's call.
mlir::FailureOr<mlir::LLVM::CallOp>
callSupport(Functions &functions, mlir::OpBuilder &b, mlir::Operation *op,
            llvm::StringRef name, mlir::Type result,
            mlir::ValueRange arguments);

/// Returns stack memory for `numWords` 64-bit fields that a call of `op`
/// passes. All calls share one allocation in the function's entry, because with
/// an allocation per call the stack would grow with the model.
mlir::Value getFrame(mlir::Operation *op, int64_t numWords,
                     mlir::ConversionPatternRewriter &rewriter);

/// Lowers a launch to a call of `ingot_support_parallel`. The call passes a
/// function that runs one task, and the addresses and sizes that the kernel
/// takes.
void populateLaunchToLLVM(const mlir::LLVMTypeConverter &converter,
                          mlir::RewritePatternSet &patterns,
                          Functions &functions);

/// Lowers ops that loops of the model use: polls and lists. `texts` counts
/// messages.
void populateListToLLVM(const mlir::LLVMTypeConverter &converter,
                        mlir::RewritePatternSet &patterns,
                        Functions &functions, int64_t &texts);

} // namespace ingot::codegen

#endif // INGOT_PASSES_LLVM_LAUNCHTOLLVM_H
