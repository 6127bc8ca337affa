//===- ByteRange.h - upper bounds of bytes ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_BYTERANGE_H
#define INGOT_PASSES_CPU_LOWER_BYTERANGE_H

#include "mlir/IR/Value.h"

namespace ingot::cpu {

/// Returns an upper bound of the elements of a tensor of unsigned bytes,
/// derived from the ops that compute it. Returns 255 if nothing is known.
/// Returns 127 if the data were quantized with `reduce_range`, which leaves the
/// eighth bit free.
int64_t largestByteOf(mlir::Value tensor);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_BYTERANGE_H
