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

/// Collects the memory effects of an op on memrefs: its reads and its write.
void collectEffects(mlir::DestinationStyleOpInterface op, Effects &effects,
                    bool readsDestination = false);

mlir::ShapedType typeOf(mlir::Value value);

/// Returns true if two sizes may be equal at run time.
bool fits(int64_t a, int64_t b);

mlir::LogicalResult expectSize(mlir::Operation *op, const llvm::Twine &what,
                               int64_t want, int64_t got);
mlir::LogicalResult expectRank(mlir::Operation *op, llvm::StringRef what,
                               mlir::Value value, int64_t rank);
mlir::LogicalResult expectCount(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> values, int64_t count);
/// Checks that sizes are static, because the generated code depends on them.
mlir::LogicalResult expectKnown(mlir::Operation *op, llvm::StringRef what,
                                llvm::ArrayRef<int64_t> sizes);

/// Checks that `value` is of f32 and has this shape.
mlir::LogicalResult expectFloats(mlir::Operation *op, const llvm::Twine &what,
                                 mlir::Value value,
                                 llvm::ArrayRef<int64_t> shape);

/// Checks that the op has a result only if it works on tensors. The result must
/// have dst's type.
mlir::LogicalResult verifyDst(mlir::Operation *op, mlir::Value dst);

/// Checks that `operands` broadcast to `dst` and have its rank. Messages call
/// them `what`.
mlir::LogicalResult verifyBroadcast(mlir::Operation *op, llvm::StringRef what,
                                    mlir::ValueRange operands,
                                    mlir::Value dst);

/// Collects the effects of a launch, which writes the last `writes` of its
/// operands in memory.
void collectLaunchEffects(mlir::Operation *op, int64_t writes,
                          Effects &effects);

/// Checks that the operands `arguments` of a launch fit the parameters of its
/// kernel, and that at most `arguments.size()` of them are written. Only
/// offsets may differ: the launch adds them to the addresses.
mlir::LogicalResult verifyLaunch(mlir::Operation *op,
                                 mlir::ValueRange arguments,
                                 mlir::TypeRange parameters, int64_t writes);

} // namespace ingot::kernel

#endif // INGOT_DIALECTS_KERNEL_VERIFY_H
