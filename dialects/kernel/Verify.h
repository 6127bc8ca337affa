//===- Verify.h - effects and verifiers of kernel ops -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_VERIFY_H
#define INGOT_DIALECTS_KERNEL_VERIFY_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot::kernel {

using Effects = llvm::SmallVectorImpl<
    mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;

/// Collects the reads and the write of an op on memrefs.
void collectEffects(mlir::DestinationStyleOpInterface op, Effects &effects,
                    bool readsDestination = false);

mlir::ShapedType typeOf(mlir::Value value);

/// Returns true if two sizes may be equal in a run.
bool fits(int64_t a, int64_t b);

mlir::LogicalResult expectSize(mlir::Operation *op, const llvm::Twine &what,
                               int64_t want, int64_t got);
mlir::LogicalResult expectRank(mlir::Operation *op, llvm::StringRef what,
                               mlir::Value value, int64_t rank);
mlir::LogicalResult expectCount(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> values, int64_t count);
/// Checks that sizes are static, because code is generated for them.
mlir::LogicalResult expectKnown(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> sizes);

/// Checks that the op has a result of dst's type on tensors only.
mlir::LogicalResult verifyDst(mlir::Operation *op, mlir::Value dst);

/// Checks that `operands`, called `what`, broadcast to `dst` and have its rank.
mlir::LogicalResult verifyBroadcast(mlir::Operation *op, llvm::StringRef what,
                                    mlir::ValueRange operands,
                                    mlir::Value dst);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_VERIFY_H
