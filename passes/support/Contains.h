//===- Contains.h - search in the regions of an op --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_CONTAINS_H
#define INGOT_PASSES_SUPPORT_CONTAINS_H

#include "mlir/IR/Operation.h"

namespace ingot::support {

/// Returns true if `test` holds for `op` or an op in its regions.
inline bool contains(mlir::Operation *op,
                     llvm::function_ref<bool(mlir::Operation *)> test) {
  auto stopAt = [&](mlir::Operation *inside) {
    return test(inside) ? mlir::WalkResult::interrupt()
                        : mlir::WalkResult::advance();
  };
  return op->walk(stopAt).wasInterrupted();
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_CONTAINS_H
