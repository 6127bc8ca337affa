//===- CpuVerify.h - what verifiers of cpu ops share ------------*- C++ -*-===//
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

/// That none of the `values`, which are `what`, is less.
mlir::LogicalResult expectAtLeast(mlir::Operation *op, llvm::StringRef what,
                                  int64_t least,
                                  llvm::ArrayRef<int64_t> values);

/// Panels that registers of every level divide.
mlir::LogicalResult expectPanel(mlir::Operation *op, int64_t width);

/// Tensors may have signs yet; scalars and what kernels read have none.
mlir::Type signless(mlir::Type type);

/// The weights of `op` as bytes, if it has them.
mlir::LogicalResult verifyFours(DepthwiseConvOp op);

/// What is proved of `op` for minimal filtering.
mlir::LogicalResult verifyFiltering(ConvOp op);

/// The epilogue of an op that stores elements, or signs of so many channels.
mlir::LogicalResult verifyEpilogue(kernel::EpilogueOpInterface op,
                                   mlir::Value dst);
mlir::LogicalResult verifySignEpilogue(kernel::EpilogueOpInterface op,
                                       mlir::Value dst, int64_t channels);

} // namespace ingot::cpu::checks

#endif // INGOT_DIALECTS_CPU_CPUVERIFY_H
