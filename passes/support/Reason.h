//===- Reason.h - why something is not done ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_REASON_H
#define INGOT_PASSES_SUPPORT_REASON_H

#include "dialects/ingot/IngotDialect.h"

#include <optional>
#include <string>

namespace ingot {

/// Why something is not done with an op, as half a sentence about the op ("has
/// weights that are not constant"). None if it can be done.
using Reason = std::optional<std::string>;

/// A type as it stands in a reason: "1x?x224x3xf32".
std::string describe(mlir::Type type);

/// Why kernels that compute f32 on tensors with elements do not take `op`: of
/// which operand or result the type is another, or which is empty.
Reason whyNotFloat32(mlir::Operation *op);

/// Why `backend` leaves `op` alone whatever it is: `ingot.backend` names another.
Reason whyNotBackend(mlir::Operation *op, BackendKind backend);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_REASON_H
