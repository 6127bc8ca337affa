//===- Reason.h - why something is not done ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_REASON_H
#define INGOT_PASSES_SUPPORT_REASON_H

#include "dialects/ingot/IngotDialect.h"

#include "llvm/ADT/TypeSwitch.h"

#include <optional>
#include <string>

namespace ingot {

/// Why something is not done with an op, as half a sentence about the op ("has
/// weights that are not constant"). None if it can be done.
using Reason = std::optional<std::string>;

/// The kinds of ops that a backend has kernels for.
template <typename... Ops> struct OpKinds {
  static bool contain(mlir::Operation *op) { return mlir::isa<Ops...>(op); }

  /// What `whyNot` says of `op`, which is of one of the kinds.
  template <typename WhyNot>
  static Reason ask(mlir::Operation *op, WhyNot whyNot) {
    return llvm::TypeSwitch<mlir::Operation *, Reason>(op)
        .template Case<Ops...>(whyNot);
  }
};

/// Reasons that several backends have.
constexpr char kChannelsNotLast[] = "has channels that are not last";
constexpr char kTypesDiffer[] =
    "has types that differ in what is known of sizes";

/// Returns a type as it stands in a reason: "float32[1,?,224,3]".
std::string describe(mlir::Type type);

/// Why kernels that compute f32 on tensors with elements do not take `op`: of
/// which operand or result the type is another, or which is empty.
Reason whyNotFloat32(mlir::Operation *op);

/// Which operand or result of `op` is empty.
Reason whyNotEmpty(mlir::Operation *op);

/// Why factors of a normalization over the dimensions of `shape` cannot be read
/// along with it: of those that are there, one is open or not as large.
Reason whyNotFactors(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<mlir::Value> factors);

/// Why `backend` leaves `op` alone whatever it is: `ingot.backend` names
/// another.
Reason whyNotBackend(mlir::Operation *op, llvm::StringRef backend);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_REASON_H
