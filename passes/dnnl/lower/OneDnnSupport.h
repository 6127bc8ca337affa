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

/// Whether oneDNN has primitives for ops of this kind.
bool isOneDnnKind(mlir::Operation *op);

/// Why oneDNN does not take `op`, for whose kind it has a primitive.
Reason whyNotOneDnn(mlir::Operation *op);

/// Why nn-to-dnnl leaves `op` alone: another backend computes it, or what
/// whyNotOneDnn says.
Reason whyNotToDnnl(mlir::Operation *op);

} // namespace ingot::dnnl

#endif // INGOT_PASSES_DNNL_LOWER_ONEDNNSUPPORT_H
