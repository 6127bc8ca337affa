//===- OutputFiles.h - files that are whole or not there --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_OUTPUTFILES_H
#define INGOT_COMPILER_OUTPUTFILES_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace ingot {

/// A device or a pipe that no file must take the place of.
bool isSpecial(mlir::StringRef name);

/// Text also goes through a link, such as /dev/stdout.
bool isWrittenInPlace(mlir::StringRef name);

/// What a compilation writes: files beside `output`, which get their names when
/// all is written. Those that were not kept are gone with the object, and when a
/// signal ends the process. Failures are reported.
class OutputFiles {
public:
  using Write = llvm::function_ref<mlir::LogicalResult(mlir::raw_ostream &)>;

  OutputFiles(mlir::MLIRContext &context, mlir::StringRef output)
      : context(context), output(output) {}
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// The path of a new, empty file.
  mlir::FailureOr<std::string> createTemporary(mlir::StringRef suffix);
  /// One that `write` has written; `path` is set.
  mlir::LogicalResult writeTemporary(mlir::StringRef suffix, std::string &path,
                                     Write write);
  mlir::LogicalResult writeFile(mlir::StringRef path, Write write);
  /// Writes what the file at `path` holds.
  mlir::LogicalResult copyFile(mlir::StringRef path, mlir::raw_ostream &out);
  /// Gives a temporary file its name, and the permissions that the umask leaves.
  mlir::LogicalResult keep(mlir::StringRef temporary, mlir::StringRef name);

private:
  mlir::LogicalResult fail(const mlir::Twine &message);

  mlir::MLIRContext &context;
  std::string output;
  std::vector<std::string> temporaries;
};

} // namespace ingot

#endif // INGOT_COMPILER_OUTPUTFILES_H
