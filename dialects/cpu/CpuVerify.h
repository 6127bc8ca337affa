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

/// Verifies that none of the `values`, which messages call `what`, is below
/// `least`.
mlir::LogicalResult expectAtLeast(mlir::Operation *op, llvm::StringRef what,
                                  int64_t least,
                                  llvm::ArrayRef<int64_t> values);

/// Verifies that the registers of every level divide the width of panels.
mlir::LogicalResult expectPanel(mlir::Operation *op, int64_t width);

/// Returns the signless type. Tensors may still have signs; scalars and
/// operands of kernels have none.
mlir::Type signless(mlir::Type type);

/// Verifies the weights of `op` as groups of four bytes, if present.
mlir::LogicalResult verifyGroupsOfFour(DepthwiseConvOp op);

/// An operand, null if it is absent, and its name.
using NamedOperand = std::pair<llvm::StringRef, mlir::Value>;

/// Verifies that the weights of `op` are of one of the `kinds`, and that of the
/// `operands` those are there that `format` implies, and no others.
mlir::LogicalResult verifyFormat(mlir::Operation *op, WeightsAttr format,
                                 llvm::ArrayRef<WeightsKind> kinds,
                                 llvm::ArrayRef<NamedOperand> operands = {});

/// Verifies the statements about pairs of `packed` weights, if present. `depth`
/// is the number of channels per tap of a row.
mlir::LogicalResult verifyPairs(mlir::Operation *op, mlir::Value packed,
                                mlir::Value pairs, int64_t depth);

/// Verifies that src, with `words` in a pixel, and weights have the 32-bit
/// elements for the signs of `format`.
mlir::LogicalResult verifySigns(mlir::Operation *op, WeightsAttr format,
                                mlir::Value weights, int64_t words);

/// Verifies the statements about `op` that Winograd needs.
mlir::LogicalResult verifyWinogradConv(ConvOp op);

/// Verifies the epilogue of an op that stores elements, or signs of `channels`
/// channels.
mlir::LogicalResult verifyEpilogue(kernel::EpilogueOpInterface op,
                                   mlir::Value dst);
mlir::LogicalResult verifySignEpilogue(kernel::EpilogueOpInterface op,
                                       mlir::Value dst, int64_t channels);

} // namespace ingot::cpu::checks

#endif // INGOT_DIALECTS_CPU_CPUVERIFY_H
