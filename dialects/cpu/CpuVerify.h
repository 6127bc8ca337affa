//===- CpuVerify.h - common parts of verifiers ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUVERIFY_H
#define INGOT_DIALECTS_CPU_CPUVERIFY_H

#include "dialects/cpu/CpuDialect.h"
#include "dialects/kernel/Verify.h"

namespace ingot::cpu::checks {

using namespace ingot::kernel;

/// Verifies that all `values` are at least `least`. Messages call the values
/// `what`.
mlir::LogicalResult expectAtLeast(mlir::Operation *op, llvm::StringRef what,
                                  int64_t least,
                                  llvm::ArrayRef<int64_t> values);

/// Verifies that the width of panels is a multiple of the vector width of every
/// level.
mlir::LogicalResult expectPanel(mlir::Operation *op, int64_t width);

/// Returns the type without a sign. Types of tensors may still have signs.
/// Types of scalars and of kernels' operands have none.
mlir::Type signless(mlir::Type type);

/// The name of an operand, and the operand, which is null if absent.
using NamedOperand = std::pair<llvm::StringRef, mlir::Value>;

/// Verifies that the format of the weights is one of `kinds`. Also verifies
/// that exactly those `operands` are present that `format` implies.
mlir::LogicalResult verifyFormat(mlir::Operation *op, WeightsAttr format,
                                 llvm::ArrayRef<WeightsKind> kinds,
                                 llvm::ArrayRef<NamedOperand> operands = {});

/// Verifies what the format of `packed` weights states about pairs, if
/// anything. `depth` is the number of channels per tap of a row.
mlir::LogicalResult verifyPairs(mlir::Operation *op, mlir::Value packed,
                                mlir::Value pairs, int64_t depth);

/// Verifies that src and weights have the 32-bit elements for the signs of
/// `format`. A pixel of src has `words` of them.
mlir::LogicalResult verifySigns(mlir::Operation *op, WeightsAttr format,
                                mlir::Value weights, int64_t words);

/// Verifies that `op` has the properties that Winograd requires.
mlir::LogicalResult verifyWinogradConv(ConvOp op);

/// Verifies the epilogue of an op that stores elements, or the signs of
/// `channels` channels.
mlir::LogicalResult verifyEpilogue(kernel::EpilogueOpInterface op,
                                   mlir::Value dst);
mlir::LogicalResult verifySignEpilogue(kernel::EpilogueOpInterface op,
                                       mlir::Value dst, int64_t channels);

} // namespace ingot::cpu::checks

#endif // INGOT_DIALECTS_CPU_CPUVERIFY_H
