//===- TensorTypes.h - types of tensors -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_TENSORTYPES_H
#define INGOT_DIALECTS_NN_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace ingot::nn {

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_TENSORTYPES_H
