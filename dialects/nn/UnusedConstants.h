//===- UnusedConstants.h - constants that nothing uses ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_UNUSEDCONSTANTS_H
#define INGOT_DIALECTS_NN_UNUSEDCONSTANTS_H

#include "mlir/IR/BuiltinOps.h"

namespace ingot::nn {

/// Frees the bytes of all resource blobs of the module's context that no
/// operation of `module` uses. No other module of the context may use them.
/// Returns the number of freed bytes.
uint64_t dropUnusedConstants(mlir::ModuleOp module);

/// Returns the bytes of all resource blobs of a context. This takes no walk
/// over operations.
uint64_t bytesOfConstants(mlir::MLIRContext *context);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_UNUSEDCONSTANTS_H
