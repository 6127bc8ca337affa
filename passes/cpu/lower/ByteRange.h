//===- ByteRange.h - how large bytes are ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_BYTERANGE_H
#define INGOT_PASSES_CPU_LOWER_BYTERANGE_H

#include "mlir/IR/Value.h"

namespace ingot::cpu {

/// What no element of a tensor of unsigned bytes is larger than, as what
/// computes it says: 255 if that is not known, 127 of data whose eighth bit a
/// trained quantization leaves free (`reduce_range`).
int64_t largestByteOf(mlir::Value tensor);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_BYTERANGE_H
