//===- NullDialect.h - null dialect -----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_BACKEND_NULL_NULLDIALECT_H
#define INGOT_TEST_BACKEND_NULL_NULLDIALECT_H

#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "test/backend/null/NullDialect.h.inc"

#define GET_OP_CLASSES
#include "test/backend/null/NullOps.h.inc"

namespace ingot::null {

void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace ingot::null

#endif // INGOT_TEST_BACKEND_NULL_NULLDIALECT_H
