//===- Quantize.h - helpers for quantized operators -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_QUANTIZE_H
#define INGOT_PASSES_LEGALIZE_QUANT_QUANTIZE_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// Returns true if a tensor has one element. It may have any rank.
bool isSingle(Value value);
/// Reshapes a tensor of one element to rank 0.
Value toScalar(Node &node, Value value);

/// Reshapes a tensor of one element or a vector such that it broadcasts to data
/// of `rank` along `axis`.
Value alongAxis(Node &node, Value value, int64_t rank, int64_t axis);

/// Rounds `scaled` (x / scale), adds the zero point, which may be null, and
/// saturates to `to`.
Value saturate(Node &node, Value scaled, Value zeroPoint, Type to);

/// Reports constant input i, called `name`, if an element is not a valid scale.
/// A scale is finite and positive.
LogicalResult checkScale(Node &node, size_t i, llvm::StringRef name);

/// Reports the first of `inputs` that is left out. Operators of other domains
/// have no ONNX schema that would check this.
LogicalResult needInputs(Node &node, llvm::ArrayRef<size_t> inputs);

/// Returns the i32 product of int8 tensors `a` and `b` after subtracting their
/// zero points. A zero point is null, one value, or a value per row of `a` or
/// column of `b`. Vectors are handled as in MatMul.
mlir::FailureOr<Value> multiplyBytes(Node &node, Value a, Value zeroA, Value b,
                                     Value zeroB);

/// Reshapes a scale or zero point such that it broadcasts to a product. It has
/// one value, or a value per row of the left or column of the right factor.
Value alongLines(Node &node, Value value, bool isLeft);

LogicalResult legalizeQuantizeLinear(Node &node);
LogicalResult legalizeDequantizeLinear(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_QUANTIZE_H
