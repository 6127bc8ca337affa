//===- StoreOutputCall.h - hands an output to the host ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_STOREOUTPUTCALL_H
#define INGOT_PASSES_MEMORY_STOREOUTPUTCALL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// A call of runtime/support that hands an output of open size to the host.
/// Passes make such calls, find them, and read their operands, by this class
/// alone.
class StoreOutputCall {
public:
  /// The operands of the call, in order.
  struct Operands {
    /// The run's call.
    mlir::Value call;
    mlir::Value number;
    mlir::Value rank;
    /// The address of the sizes, which are i64.
    mlir::Value sizes;
    /// The address of the elements: numbers of strings, if they are strings.
    mlir::Value data;
    /// The bits of one element.
    mlir::Value bits;
  };

  /// Makes the call; declares the host's function if the module has not yet.
  static StoreOutputCall create(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::ModuleOp module, const Operands &operands,
                                bool isOfStrings);

  /// Returns `op` as such a call, or null.
  static StoreOutputCall find(mlir::Operation *op);

  explicit operator bool() const { return bool(op); }
  mlir::func::CallOp getOp() const { return op; }
  Operands getOperands() const;
  bool isOfStrings() const;

private:
  explicit StoreOutputCall(mlir::func::CallOp op) : op(op) {}

  mlir::func::CallOp op;
};

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_STOREOUTPUTCALL_H
