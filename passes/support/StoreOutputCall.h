//===- StoreOutputCall.h - passes an output to the host ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_STOREOUTPUTCALL_H
#define INGOT_PASSES_SUPPORT_STOREOUTPUTCALL_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {

/// A call of runtime/support that passes an output of open size to the host.
/// Passes create such calls, find them and read their operands only by this
/// class.
class StoreOutputCall {
public:
  /// The operands of the call, in order.
  struct Operands {
    /// Pointer to the call structure of the run.
    mlir::Value call;
    mlir::Value number;
    mlir::Value rank;
    /// Address of the sizes, which are i64.
    mlir::Value sizes;
    /// Address of the elements. For strings, the elements are numbers of
    /// strings.
    mlir::Value data;
    /// Bits of one element.
    mlir::Value bits;
  };

  /// Creates the call. Declares the host's function if the module does not
  /// declare it yet.
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

#endif // INGOT_PASSES_SUPPORT_STOREOUTPUTCALL_H
