//===- OutputFiles.h - files that are whole or not there --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_OUTPUTFILES_H
#define INGOT_COMPILER_DRIVER_OUTPUTFILES_H

#include "base/FileSet.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace ingot {

/// The files that a compilation writes, all in the folder of `output`. The
/// files get their names when all are written. Functions report their failures.
class OutputFiles {
public:
  using Write = llvm::function_ref<mlir::LogicalResult(mlir::raw_ostream &)>;
  using Name = FileSet::Name;

  OutputFiles(mlir::MLIRContext &context, mlir::StringRef output);

  /// Creates a file without a name and lets `write` fill it.
  mlir::FailureOr<int> write(Write write, bool isExecutable = false);
  /// Gives the files their names. The names are relative to the folder of
  /// `output`.
  mlir::LogicalResult publish(const std::vector<Name> &names);
  /// Publishes the library `output`. Removes its weights files except
  /// `weights`: such files belong to the replaced library, or to a compilation
  /// that was killed.
  mlir::LogicalResult publishLibrary(const std::vector<Name> &names,
                                     mlir::StringRef weights);

  mlir::LogicalResult writeInPlace(mlir::StringRef path, Write write);

private:
  mlir::LogicalResult fail(const mlir::Twine &message);
  mlir::LogicalResult writeTo(int descriptor, mlir::StringRef path,
                              Write write);

  mlir::MLIRContext &context;
  std::string output;
  FileSet files;
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_OUTPUTFILES_H
