//===- ScaledBytes.h - bytes that stand for floats --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mean of values `factor x + offset` is `factor m + offset`, where m is the
// mean of x. A kernel can thus average bytes and scale the smaller result. This
// pays only if bytes are in memory anyway. If a kernel computes the values
// instead, it stores floats as fast as bytes, and floats need no conversion
// when they are read.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_SCALEDBYTES_H
#define INGOT_PASSES_CPU_LOWER_SCALEDBYTES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace ingot::cpu {

/// A tensor of ui8. Its elements x represent `factor x + offset`.
struct ScaledBytes {
  mlir::Value bytes;
  double factor = 1, offset = 0;

  /// Converts f32 means of the bytes to means of the represented values.
  mlir::Value scale(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value means) const;
};

/// Returns the bytes from which `value`, of f32, is computed with constants
/// only. Returns nullopt if there are no such bytes, or if reading the floats
/// is as fast. The latter holds if one kernel can compute both, so that the
/// bytes are never stored, and if the floats stay in the cache. AVX2 has no
/// masks for bytes, so rows of `length` elements must be whole vectors.
std::optional<ScaledBytes> readScaledBytes(mlir::Value value, int64_t length);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_SCALEDBYTES_H
