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
mlir::LogicalResult verifyFours(DepthwiseConvOp op);

/// Verifies the statements about `op` that Winograd needs.
mlir::LogicalResult verifyFiltering(ConvOp op);

/// Verifies the epilogue of an op that stores elements, or signs of `channels`
/// channels.
mlir::LogicalResult verifyEpilogue(kernel::EpilogueOpInterface op,
                                   mlir::Value dst);
mlir::LogicalResult verifySignEpilogue(kernel::EpilogueOpInterface op,
                                       mlir::Value dst, int64_t channels);

} // namespace ingot::cpu::checks

#endif // INGOT_DIALECTS_CPU_CPUVERIFY_H
