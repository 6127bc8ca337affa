//===- EmulateVectors.h - vector instructions in plain vectors --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emulates single vector instructions of AVX-512 and its extensions, except for
// products of bf16 and bytes. They are functions of three bits (`pternlog`),
// packing with saturation, conversions of floats beyond i32, and sums of f16.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_ISA_EMULATE_EMULATEVECTORS_H
#define INGOT_PASSES_CPU_ISA_EMULATE_EMULATEVECTORS_H

#include "mlir/Transforms/DialectConversion.h"

namespace ingot::cpu {

/// Returns true if a pattern of populateEmulateVectors handles calls of
/// `intrinsic`.
bool isVectorIntrinsic(mlir::StringRef intrinsic);

void populateEmulateVectors(const mlir::TypeConverter &converter,
                            mlir::RewritePatternSet &patterns,
                            mlir::ConversionTarget &target);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_ISA_EMULATE_EMULATEVECTORS_H
