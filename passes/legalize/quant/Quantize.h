//===- Quantize.h - what quantized operators share --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_QUANTIZE_H
#define INGOT_PASSES_LEGALIZE_QUANT_QUANTIZE_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// Whether a tensor holds one number, whatever its rank.
bool isSingle(Value value);
/// That number, as a tensor of rank 0.
Value toScalar(Node &node, Value value);

/// A tensor of one number or a vector, so shaped that it broadcasts to data of
/// `rank` along `axis`.
Value alongAxis(Node &node, Value value, int64_t rank, int64_t axis);

/// Rounds `scaled` (x / scale), adds the zero point, which may be null, and
/// saturates to `to`.
Value saturate(Node &node, Value scaled, Value zeroPoint, Type to);

/// Reports constant input i, called `name`, if an element is no scale: not
/// above 0, infinite or not a number.
LogicalResult checkScale(Node &node, size_t i, llvm::StringRef name);

/// Reports the first of `inputs` that is left out: no schema of ONNX says what
/// operators of other domains have.
LogicalResult needInputs(Node &node, llvm::ArrayRef<size_t> inputs);

/// The i32 product of bytes `a` and `b`, less their zero points, which may be
/// null: one number, or one for each row of `a` or column of `b`. Vectors are
/// taken as MatMul does.
mlir::FailureOr<Value> multiplyBytes(Node &node, Value a, Value zeroA, Value b,
                                     Value zeroB);

/// A scale or zero point, one number, or one for each row of the left or column
/// of the right factor of a product, so shaped that it broadcasts.
Value alongLines(Node &node, Value value, bool isLeft);

LogicalResult legalizeQuantizeLinear(Node &node);
LogicalResult legalizeDequantizeLinear(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_QUANTIZE_H
