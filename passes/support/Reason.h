//===- Reason.h - reasons for declining an op -------------------*- C++ -*-===//
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

/// Reason why an op is declined, as a predicate about the op ("has weights that
/// are not constant"). Nullopt if the op is accepted.
using Reason = std::optional<std::string>;

/// The kinds of ops that a backend has kernels for.
template <typename... Ops> struct OpKinds {
  static bool contain(mlir::Operation *op) { return mlir::isa<Ops...>(op); }

  /// Returns the reason that `whyNot` gives for `op`. The kind of `op` must be
  /// in the list.
  template <typename WhyNot>
  static Reason ask(mlir::Operation *op, WhyNot whyNot) {
    return llvm::TypeSwitch<mlir::Operation *, Reason>(op)
        .template Case<Ops...>(whyNot);
  }
};

/// Reasons that several backends give.
constexpr char kChannelsNotLast[] = "has channels that are not last";
constexpr char kTypesDiffer[] =
    "has types that differ in what is known of sizes";

/// Returns a type as it is written in a reason: "float32[1,?,224,3]".
std::string describe(mlir::Type type);

/// Returns why f32 kernels decline `op`: an operand or result is empty or of
/// another element type.
Reason whyNotFloat32(mlir::Operation *op);

/// Returns a reason that names the empty operand or result of `op`, or nullopt.
Reason whyNotEmpty(mlir::Operation *op);

/// Returns why the factors of a normalization over dimensions of `shape` are
/// not supported. A factor must be null, or be static with this shape.
Reason whyNotFactors(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<mlir::Value> factors);

/// Returns why `backend` declines `op` in any case: `ingot.backend` names
/// another backend.
Reason whyNotBackend(mlir::Operation *op, llvm::StringRef backend);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_REASON_H
