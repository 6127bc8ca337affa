//===- IngotDialect.h - ingot dialect ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_INGOT_INGOTDIALECT_H
#define INGOT_DIALECTS_INGOT_INGOTDIALECT_H

#include "dialects/ingot/TargetInfo.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot {

/// The memory effect resource for the status of a run, which decides if the run
/// continues. Only run-time checks write it.
struct RunStatus : mlir::SideEffects::Resource::Base<RunStatus> {
  llvm::StringRef getName() final { return "run status"; }
};

} // namespace ingot

#include "dialects/ingot/IngotEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/ingot/IngotAttrs.h.inc"

#include "dialects/ingot/IngotDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/ingot/IngotOps.h.inc"

namespace ingot {

/// Name of the function that computes the model for all sizes of its inputs.
constexpr llvm::StringLiteral kForward = "forward";

/// Names of the functions to call when a model is loaded and closed, as in
/// ingot_abi_variant.
constexpr llvm::StringLiteral kLoadSymbol = "ingot_load";
constexpr llvm::StringLiteral kUnloadSymbol = "ingot_unload";

/// Returns the index of the profile for whose usual sizes `function` is
/// specialized, or nullopt if there is none.
std::optional<int64_t> usualOf(mlir::Operation *function);

/// Returns the argument of the run's function with the role `which`, or null.
mlir::BlockArgument findRunOperand(mlir::FunctionOpInterface function,
                                   RunOperand which);

/// Marks an argument of the run's function with its role.
void setRunOperand(mlir::BlockArgument argument, RunOperand which);

/// Returns true if `op` must be computed in bf16, or has weights that are
/// stored as fp16.
bool isBF16(mlir::Operation *op);
bool isFP16(mlir::Operation *op);
bool isTF32(mlir::Operation *op);

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_INGOTDIALECT_H
