//===- MergeKernels.h - One function for similar kernels --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_MERGEKERNELS_H
#define INGOT_COMPILER_EMIT_MERGEKERNELS_H

#include "llvm/IR/PassManager.h"

namespace ingot {

/// Makes one function of kernels that differ in a few numbers alone, which it
/// reads from a table; the kernels call it with theirs (docs/compile-time.md).
struct MergeKernelsPass : llvm::PassInfoMixin<MergeKernelsPass> {
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &analyses);
};

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_MERGEKERNELS_H
