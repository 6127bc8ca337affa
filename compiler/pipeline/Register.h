//===- Register.h - dialects and passes that the compiler uses --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_PIPELINE_REGISTER_H
#define INGOT_COMPILER_PIPELINE_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace ingot {

/// Adds every dialect of the pipeline from ONNX to LLVM, with its interfaces.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers all passes for pipelines in text.
void registerPasses();

} // namespace ingot

#endif // INGOT_COMPILER_PIPELINE_REGISTER_H
