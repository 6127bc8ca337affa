//===- OneDnnSupport.h - what oneDNN computes -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_DNNL_LOWER_ONEDNNSUPPORT_H
#define INGOT_PASSES_DNNL_LOWER_ONEDNNSUPPORT_H

#include "passes/support/Reason.h"

namespace ingot::dnnl {

/// Returns true if oneDNN has primitives for ops of this kind.
bool isOneDnnKind(mlir::Operation *op);

/// Returns why oneDNN does not take `op`, which must be of a kind with
/// primitives.
Reason whyNotOneDnn(mlir::Operation *op);

/// Returns why nn-to-dnnl does not lower `op`. Either `op` is assigned to
/// another backend, or whyNotOneDnn gives a reason.
Reason whyNotToDnnl(mlir::Operation *op);

} // namespace ingot::dnnl

#endif // INGOT_PASSES_DNNL_LOWER_ONEDNNSUPPORT_H
