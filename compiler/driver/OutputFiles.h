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

/// What a compilation writes: files beside `output`, which get their names when
/// all is written. Failures are reported.
class OutputFiles {
public:
  using Write = llvm::function_ref<mlir::LogicalResult(mlir::raw_ostream &)>;
  using Name = FileSet::Name;

  OutputFiles(mlir::MLIRContext &context, mlir::StringRef output);

  /// A new file that `write` has written, which has no name yet.
  mlir::FailureOr<int> write(Write write, bool isExecutable = false);
  /// Names are those of files in the folder of `output`, without it.
  mlir::LogicalResult publish(const std::vector<Name> &names);
  /// Publishes the library `output`, and removes weights of it that are not
  /// `weights`: those of the library whose place it has taken, or of a
  /// compilation that was killed.
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
