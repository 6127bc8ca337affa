//===- ImportFuzzer.cpp - libFuzzer target of the importer ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fuzzes the importer. Any input must give a module or a diagnostic. It must
// not cause a crash, a sanitizer report, an endless loop, or more memory than
// the limit.
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
  // Replaces the context from time to time, because it keeps every attribute.
  // Making a context is slow.
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 64 == 0) {
    context = std::make_unique<mlir::MLIRContext>(
        mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
      // Diagnostics must have one line.
      if (llvm::StringRef(diagnostic.str()).contains('\n'))
        abort();
    });
  }
  ingot::ImportOptions options;
  options.maxNodes = 20'000;
  options.maxSparseBytes = 16 << 20;
  options.maxGraphBytes = 1 << 20;
  // Expands some operators; an input always expands the same ones.
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
  // Mutates bytes for the parser, and fields for the code behind it.
  if (seed % 4 != 0)
    if (size_t mutated =
            ingot::fuzz::mutateModel(data, size, maxSize, seed / 4))
      return mutated;
  return LLVMFuzzerMutate(data, size, maxSize);
}
