//===- ErrorWatch.h - whether an error was reported -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_ERRORWATCH_H
#define INGOT_COMPILER_DRIVER_ERRORWATCH_H

#include "mlir/IR/Diagnostics.h"

namespace ingot {

/// Notices errors that are reported to a context. Code that reports an error
/// must not return success. Also translates messages to terms that users know
/// (`toUserText`).
class ErrorWatch {
public:
  explicit ErrorWatch(mlir::MLIRContext &context);

  /// Returns failure if an error was reported.
  mlir::LogicalResult check() const { return mlir::failure(seen); }

private:
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);

  bool seen = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_ERRORWATCH_H
