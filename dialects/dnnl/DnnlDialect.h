//===- DnnlDialect.h - dnnl dialect -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_DNNL_DNNLDIALECT_H
#define INGOT_DIALECTS_DNNL_DNNLDIALECT_H

#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/dnnl/DnnlDialect.h.inc"
#include "dialects/dnnl/DnnlEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dnnl/DnnlAttrs.h.inc"

#include "dialects/dnnl/DnnlInterfaces.h.inc"

namespace ingot::dnnl {
/// Name of the backend whose kernels are ops of this dialect.
constexpr llvm::StringLiteral kBackend = "onednn";
/// Name of the library in the artifact's table of dependencies.
constexpr llvm::StringLiteral kLibrary = "onednn";
} // namespace ingot::dnnl

#define GET_OP_CLASSES
#include "dialects/dnnl/DnnlOps.h.inc"

namespace ingot::dnnl {

/// Returns true if the epilogue reads the destination's previous values.
bool hasSum(mlir::Operation *op);

void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace ingot::dnnl

#endif // INGOT_DIALECTS_DNNL_DNNLDIALECT_H
