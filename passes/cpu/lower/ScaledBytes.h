//===- ScaledBytes.h - bytes that stand for floats --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mean of numbers `factor x + offset` is `factor m + offset` of the mean m
// of x: what is averaged can be read as bytes, and scaled afterwards, element
// by element of a smaller result. That pays where the bytes are in memory
// anyway: what a kernel computes on the way to them it stores as floats in no
// more time, and floats need no conversion where they are read.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_SCALEDBYTES_H
#define INGOT_PASSES_CPU_LOWER_SCALEDBYTES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace ingot::cpu {

/// A tensor of ui8, of which each element stands for `factor x + offset`.
struct ScaledBytes {
  mlir::Value bytes;
  double factor = 1, offset = 0;

  /// What means of the bytes, of f32, stand for.
  mlir::Value scale(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value means) const;
};

/// The bytes that `value`, of f32, is computed of with numbers; nullopt if it
/// is not, if only the kernel that computes them would store them, or if rows
/// of `length` elements end within a vector: AVX2 has no masks for bytes.
std::optional<ScaledBytes> readScaledBytes(mlir::Value value, int64_t length);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_SCALEDBYTES_H
