//===- ConvWinograd.h - Winograd convolutions of int8 -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONV_CONVWINOGRAD_H
#define INGOT_PASSES_CPU_KERNELS_CONV_CONVWINOGRAD_H

#include "dialects/cpu/CpuDialect.h"

namespace ingot::cpu {

/// Emits one task of an int8 convolution. Its schedule must have `winograd`.
void emitWinograd(mlir::OpBuilder &builder, cpu::ConvOp op, mlir::Value task);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONV_CONVWINOGRAD_H
