//===- KernelReasons.h - what kernels of several backends lack --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_KERNELREASONS_H
#define INGOT_PASSES_SUPPORT_KERNELREASONS_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Reason.h"

namespace ingot::support {

/// Returns why kernels do not move windows over data that give a result of
/// `type`.
Reason whyNotWindowed(mlir::RankedTensorType type,
                      llvm::ArrayRef<int64_t> pads);

/// Returns why kernels do not pool.
Reason whyNotPool(nn::AvgPoolOp op);
Reason whyNotPool(nn::MaxPoolOp op);

/// Returns why kernels do not normalize rows.
Reason whyNotRowNorm(nn::LayerNormOp op);
Reason whyNotRowNorm(nn::RMSNormOp op);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_KERNELREASONS_H
