//===- ImportFuzzer.cpp - libFuzzer target of the importer ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Any input must give a module or a diagnostic: no crash, no sanitizer report,
// no endless loop, no more memory than the limit.
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Import.h"
#include "test/fuzz/ModelMutator.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <cstdlib>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context keeps every attribute it has ever seen, and is slow to make.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 64 == 0) {
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
      // One line, always.
      if (llvm::StringRef(diagnostic.str()).contains('\n'))
        abort();
    });
  }
  ingot::ImportOptions options;
  options.maxNodes = 20'000;
  options.maxSparseBytes = 16 << 20;
  options.maxGraphBytes = 1 << 20;
  // Expands some operators, the same ones for the same input.
  auto isSupported = [size](llvm::StringRef, llvm::StringRef opType) {
    return (opType.size() + size) % 3 == 0;
  };
  options.isSupported = isSupported;
  mlir::OwningOpRef<mlir::ModuleOp> module = ingot::importModelFromMemory(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), "fuzz",
      *context, options);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  // Bytes for the reader of the format, fields for what comes after it.
  if (seed % 4 != 0)
    if (size_t mutated =
            ingot::fuzz::mutateModel(data, size, maxSize, seed / 4))
      return mutated;
  return LLVMFuzzerMutate(data, size, maxSize);
}
