//===- CpuDialect.h - cpu dialect -------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_CPU_CPUDIALECT_H
#define INGOT_DIALECTS_CPU_CPUDIALECT_H

#include "dialects/cpu/Products.h"
#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/cpu/CpuDialect.h.inc"

#include "dialects/cpu/CpuEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/cpu/CpuAttrs.h.inc"

namespace ingot::cpu {
/// Name of the backend whose kernels are ops of this dialect.
constexpr llvm::StringLiteral kBackend = "native";

/// Returns how a kernel of this dialect is split into images.
kernel::ImageSplit imageSplitOf(mlir::Operation *op);
/// Returns the class of a kernel of this dialect.
kernel::KernelClass kernelClassOf(mlir::Operation *op);
/// Returns true if a kernel of this dialect reads only f32, except in its
/// epilogue.
bool isOfF32(mlir::Operation *op);
} // namespace ingot::cpu

namespace ingot::cpu::checks {
/// Verifies the schedule of an op, if it has one. All other parts of the op
/// must be verified before.
mlir::LogicalResult verifySchedule(mlir::Operation *op);
} // namespace ingot::cpu::checks

#include "dialects/cpu/CpuInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.h.inc"

namespace ingot::cpu {

/// Limits for the stack of attention, which holds queries and a vector of
/// scores per key. If the number of keys is dynamic or exceeds the limit, the
/// stack holds only the scores of a block of keys.
constexpr int64_t kMostKeysAtOnce = 1024, kMaxHeadSize = 256;

/// Size of an AMX tile on all CPUs: rows, and 4-byte elements per row.
constexpr int64_t kAmxRows = 16, kAmxWords = 16;

/// Returns the number of positions with `channels` elements each in a vector of
/// the widest level, for cpu.band_matmul. The number is a power of two. A
/// vector of a narrower level holds a fraction of these positions.
constexpr int64_t bandUnit(int64_t channels) {
  int64_t positions = 1;
  while (channels > 0 && 2 * positions * channels <= 16)
    positions *= 2;
  return positions;
}

void registerBufferizableOpInterfaceExternalModels(
    mlir::DialectRegistry &registry);

} // namespace ingot::cpu

#endif // INGOT_DIALECTS_CPU_CPUDIALECT_H
