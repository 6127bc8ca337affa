//===- Import.h - ONNX file to the onnx dialect -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that checks untrusted model files is behind these functions.
//
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
  /// Input name to shape; -1 keeps a dimension dynamic.
  llvm::StringMap<llvm::SmallVector<int64_t>> shapes;
  /// Name of a symbolic dimension to its size.
  llvm::StringMap<int64_t> dims;
  /// Names of symbolic dimensions that need not have one size everywhere: each
  /// such dimension is then open by itself. `all` stands for every name.
  llvm::StringSet<> freeDims;
  /// Input name to the value that it always has, as text: `16000`, `1,2,3`. It
  /// is a constant then, and no input.
  llvm::StringMap<std::string> values;
  /// Input that is a sequence to the number of its elements, each of which is
  /// an input `NAME.0`, `NAME.1`, … then.
  llvm::StringMap<int64_t> lengths;
  /// Optional inputs that are not there; all others are.
  llvm::StringSet<> absent;
  /// Whether (domain, op type) has a lowering; "" is the domain of ONNX itself.
  /// An operator that has none is expanded if ONNX defines it as a function.
  /// Null: nothing is expanded.
  llvm::function_ref<bool(llvm::StringRef domain, llvm::StringRef opType)>
      isSupported;

  /// Receives what identifies each file of external data, which nothing may
  /// take the place of; may be null.
  std::vector<llvm::sys::fs::UniqueID> *externalFiles = nullptr;
  /// Receives their names, relative to the model's folder; may be null.
  std::vector<std::string> *externalLocations = nullptr;

  /// Bounds on what a small hostile file may make the importer do.
  unsigned maxNesting = 30;
  int64_t maxNodes = 1'000'000;
  int64_t maxFunctionNodes = 100'000;
  int64_t maxSparseBytes = int64_t(1) << 30;
  int64_t maxGraphBytes = int64_t(1) << 30;
  /// Of one tensor; at most kLargestTensor.
  int64_t maxTensorElements = onnx::kLargestTensor;
};

/// Imports the model at `path` (.onnx, or ONNX text) into a module with one
/// function, @forward. The module's large constants point into the mapped file,
/// which must not change while the module lives. On failure reports one line to
/// the diagnostic handler of `context` and returns null.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(llvm::StringRef path, mlir::MLIRContext &context,
            const ImportOptions &options = {});

/// The same for a model in memory, called `name` in messages. `bytes` must
/// outlive the module. External data is refused.
mlir::OwningOpRef<mlir::ModuleOp>
importModelFromMemory(llvm::StringRef bytes, llvm::StringRef name,
                      mlir::MLIRContext &context,
                      const ImportOptions &options = {});

} // namespace ingot

#endif // INGOT_COMPILER_IMPORT_IMPORT_H
