//===- EmulateVectors.h - vector instructions in plain vectors --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What AVX-512 and its extensions do on vectors in one instruction, but for
// products of bf16 and of bytes: tables of three bits, packing with saturation,
// conversions of what is no i32, sums of f16.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_ISA_EMULATE_EMULATEVECTORS_H
#define INGOT_PASSES_CPU_ISA_EMULATE_EMULATEVECTORS_H

#include "mlir/Transforms/DialectConversion.h"

namespace ingot::cpu {

/// Whether a pattern of populateEmulateVectors is for calls of `intrinsic`.
bool isVectorIntrinsic(mlir::StringRef intrinsic);

void populateEmulateVectors(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            mlir::ConversionTarget &target);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_ISA_EMULATE_EMULATEVECTORS_H
