//===- ByteOperands.h - operands of products of bytes -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_BYTEOPERANDS_H
#define INGOT_PASSES_LEGALIZE_QUANT_BYTEOPERANDS_H

#include "passes/legalize/core/Helpers.h"

#include <optional>
#include <vector>

namespace ingot::legalize {

/// An int8 tensor and its zero point of i32, which is null for 0.
struct Bytes {
  Value bytes, zero;
};

/// Converts `value` and its zero point, which may be null, to type `to`.
/// `shaped` makes the zero point broadcast to the value.
FailureOr<Bytes> withSign(Node &node, Value value, Value zero, Type to,
                          llvm::function_ref<Value(Value)> shaped);

/// Returns constant weights less their zero points, which may vary along
/// dimension `dim`. Returns nullopt if weights or zero points are computed.
std::optional<std::vector<double>> lessZeroPoints(Value value, Value zero,
                                                  int64_t dim);

/// Returns true if all `weights` are int8.
bool areBytes(llvm::ArrayRef<double> weights);

/// Creates weights of int8 with the shape of `value`.
Value makeBytes(Node &node, Value value, llvm::ArrayRef<double> bytes);

/// Subtracts the zero point from constant weights if the results fit int8;
/// returns null otherwise. The zero point may vary along dimension `dim`.
Value foldZeroPoint(Node &node, Value value, Value zero, int64_t dim);

/// Adds the products of `data` by the remainders of weights at one place, which
/// are constants of `shape`.
FailureOr<Value> addRemainder(Node &node, Value sums, Bytes data,
                              llvm::ArrayRef<int64_t> shape,
                              llvm::ArrayRef<double> amounts);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_BYTEOPERANDS_H
