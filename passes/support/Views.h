//===- Views.h - buffers behind views ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_VIEWS_H
#define INGOT_PASSES_SUPPORT_VIEWS_H

#include "mlir/Interfaces/ViewLikeInterface.h"

namespace ingot::support {

/// Returns the buffer that `memref` is a view of, through all views. Returns
/// `memref` if it is no view.
inline mlir::Value baseOf(mlir::Value memref) {
  while (auto view = memref.getDefiningOp<mlir::ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_VIEWS_H
