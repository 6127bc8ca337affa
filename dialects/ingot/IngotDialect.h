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

/// The status of a run, which tells if the run continues. Only run-time checks
/// write it.
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

/// Names of functions to call when a model is loaded and closed, as
/// ingot_abi_variant declares them.
constexpr llvm::StringLiteral kLoadSymbol = "ingot_load";
constexpr llvm::StringLiteral kUnloadSymbol = "ingot_unload";

/// Returns the index of the profile whose usual sizes `function` is specialized
/// for, or nullopt.
std::optional<int64_t> usualOf(mlir::Operation *function);

/// Returns the argument of the run's function that is `which`, or null.
mlir::BlockArgument findRunOperand(mlir::FunctionOpInterface function,
                                   RunOperand which);

/// Marks an argument of the run's function.
void setRunOperand(mlir::BlockArgument argument, RunOperand which);

/// Returns true if `op` is to be computed in bf16, or has weights stored as
/// fp16.
bool isBF16(mlir::Operation *op);
bool isFP16(mlir::Operation *op);

} // namespace ingot

#endif // INGOT_DIALECTS_INGOT_INGOTDIALECT_H
