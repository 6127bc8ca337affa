//===- InferTypes.h - common parts of type inference ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_INFERTYPES_H
#define INGOT_DIALECTS_NN_INFERTYPES_H

#include "dialects/nn/NNDialect.h"
#include "dialects/nn/SizeRules.h"
#include "dialects/nn/TensorTypes.h"

namespace ingot::nn {

/// Returns true if an op with inferred types `a` may have the types `b`.
/// Element types must be equal, and shapes must agree where both are known.
bool areCompatible(mlir::TypeRange a, mlir::TypeRange b);

/// Appends the tensor types of results. A size that is not constant becomes
/// dynamic.
void appendTypes(llvm::ArrayRef<SizedType> sized,
                 llvm::SmallVectorImpl<mlir::Type> &types);

/// Reports an axis that is not in [0, rank).
llvm::LogicalResult checkAxis(std::optional<mlir::Location> loc, int64_t axis,
                              int64_t rank);

/// Attaches ReifyRankedShapedTypeOpInterface to the ops of the dialect.
void attachReification(mlir::MLIRContext *context);

} // namespace ingot::nn

/// Defines OP::inferSizes. The body can use `op` (the adaptor), `rules` and
/// `loc`. It appends to `results`.
#define SIZES(OP)                                                              \
  static LogicalResult infer##OP(SizeRules &rules, std::optional<Location> loc,\
                                 OP::Adaptor op,                               \
                                 SmallVectorImpl<SizedType> &results);         \
  LogicalResult OP::inferSizes(SizeRules &rules,                               \
                               SmallVectorImpl<SizedType> &results) {          \
    return infer##OP(rules, rules.getLoc(), OP::Adaptor(*this), results);      \
  }                                                                            \
  static LogicalResult infer##OP(SizeRules &rules, std::optional<Location> loc,\
                                 OP::Adaptor op,                               \
                                 SmallVectorImpl<SizedType> &results)

/// Defines OP::inferSizes and OP::inferReturnTypes, for an op whose operands
/// determine its result types.
#define INFER(OP)                                                              \
  bool OP::isCompatibleReturnTypes(TypeRange a, TypeRange b) {                 \
    return ingot::nn::areCompatible(a, b);                                     \
  }                                                                            \
  static LogicalResult infer##OP(SizeRules &rules, std::optional<Location> loc,\
                                 OP::Adaptor op,                               \
                                 SmallVectorImpl<SizedType> &results);         \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> loc, ValueRange operands,  \
      DictionaryAttr attributes, OpaqueProperties properties,                  \
      RegionRange regions, SmallVectorImpl<Type> &results) {                   \
    SizeRules rules(context, loc);                                             \
    SmallVector<SizedType> sized;                                              \
    if (failed(infer##OP(                                                      \
            rules, loc, OP::Adaptor(operands, attributes, properties, regions),\
            sized)))                                                           \
      return failure();                                                        \
    ingot::nn::appendTypes(sized, results);                                    \
    return success();                                                          \
  }                                                                            \
  SIZES(OP)

#endif // INGOT_DIALECTS_NN_INFERTYPES_H
