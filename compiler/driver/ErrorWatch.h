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

/// Notices errors that reach the handlers of a context, and hands them on. Code
/// that reports an error and still returns success must not get away with it.
class ErrorWatch {
public:
  explicit ErrorWatch(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          seen |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
          return mlir::failure();
        }) {}

  /// Failure once an error was reported.
  mlir::LogicalResult check() const { return mlir::failure(seen); }

private:
  bool seen = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_ERRORWATCH_H
