//===- InferTypes.h - what type inference of ops shares ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_INFERTYPES_H
#define INGOT_DIALECTS_NN_INFERTYPES_H

#include "dialects/nn/NNDialect.h"

namespace ingot::nn {

/// Whether an op may state the types `b` where `a` were inferred: equal element
/// types, and shapes that agree where both are known.
bool areCompatible(mlir::TypeRange a, mlir::TypeRange b);

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace ingot::nn

/// Defines OP::inferReturnTypes; the body sees `op` (the adaptor), `loc` and
/// pushes to `results`.
#define INFER(OP)                                                              \
  bool OP::isCompatibleReturnTypes(TypeRange a, TypeRange b) {                 \
    return ingot::nn::areCompatible(a, b);                                     \
  }                                                                            \
  static LogicalResult infer##OP(std::optional<Location> loc, OP::Adaptor op,  \
                                 SmallVectorImpl<Type> &results);              \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, ValueRange operands,  \
      DictionaryAttr attributes, OpaqueProperties properties,                  \
      RegionRange regions, SmallVectorImpl<Type> &results) {                   \
    return infer##OP(                                                          \
        loc, OP::Adaptor(operands, attributes, properties, regions), results); \
  }                                                                            \
  static LogicalResult infer##OP(std::optional<Location> loc, OP::Adaptor op,  \
                                 SmallVectorImpl<Type> &results)

#endif // INGOT_DIALECTS_NN_INFERTYPES_H
