//===- Import.h - ONNX file to the onnx dialect -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that import ONNX models. They contain all checks of untrusted model
// files.
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_IMPORT_H
#define INGOT_COMPILER_IMPORT_IMPORT_H

#include "dialects/onnx/Limits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem/UniqueID.h"

#include <vector>

namespace ingot {

struct ImportOptions {
  /// Shapes of inputs, by name; -1 keeps a dimension dynamic.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Sizes of symbolic dimensions, by name.
  llvm::StringMap<int64_t> dims;
  /// Names of symbolic dimensions that need not have one size. Each dimension
  /// with such a name becomes an independent dynamic dimension. `all` means
  /// every name.
  llvm::StringSet<> freeDims;
  /// Values of inputs as text, by name, for example `16000` or `1,2,3`. Such an
  /// input becomes a constant.
  llvm::StringMap<std::string> values;
  /// Lengths of inputs that are sequences, by name. Each element becomes an
  /// input `NAME.0`, `NAME.1` and so on.
  llvm::StringMap<int64_t> lengths;
  /// Optional inputs that are absent. All other optional inputs are present.
  llvm::StringSet<> absent;
  /// Returns true if the operator (domain, op type) has a lowering. The domain
  /// "" is ONNX's own. An operator without a lowering is expanded if ONNX
  /// defines a function for it. If this callback is null, no operator is
  /// expanded.
  llvm::function_ref<bool(llvm::StringRef domain, llvm::StringRef opType)>
      isSupported;

  /// Receives the identity of each external data file, so that no output
  /// replaces such a file. May be null.
  std::vector<llvm::sys::fs::UniqueID> *externalFiles = nullptr;
  /// Receives the names of external data files, relative to the model's folder.
  /// May be null.
  std::vector<std::string> *externalLocations = nullptr;

  /// Limits on the work that a small hostile file can cause.
  unsigned maxNesting = 30;
  int64_t maxNodes = 1'000'000;
  int64_t maxFunctionNodes = 100'000;
  int64_t maxSparseBytes = int64_t(1) << 30;
  int64_t maxGraphBytes = int64_t(1) << 30;
  /// Limit on the elements of one tensor; at most kLargestTensor.
  int64_t maxTensorElements = onnx::kLargestTensor;
};

/// Imports the model at `path` (.onnx or ONNX text) into a module with one
/// function, @forward. Large constants of the module point into the mapped
/// file, which must not change during the module's life. On failure, reports
/// one line to the diagnostic handler of `context` and returns null.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(llvm::StringRef path, mlir::MLIRContext &context,
            const ImportOptions &options = {});

/// Imports a model from memory. Messages use `name` as the name of the model.
/// `bytes` must outlive the module. Refuses external data.
mlir::OwningOpRef<mlir::ModuleOp>
importModelFromMemory(llvm::StringRef bytes, llvm::StringRef name,
                      mlir::MLIRContext &context,
                      const ImportOptions &options = {});

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_IMPORT_H
