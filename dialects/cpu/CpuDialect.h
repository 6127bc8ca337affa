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
/// The name of the backend whose kernels are ops of this dialect.
constexpr llvm::StringLiteral kBackend = "native";

/// Returns how a kernel of this dialect is split into pictures.
kernel::PictureSplit pictureSplitOf(mlir::Operation *op);
} // namespace ingot::cpu

namespace ingot::cpu::checks {
/// The schedule of an op whose other parts are verified, if it has one.
mlir::LogicalResult verifySchedule(mlir::Operation *op);
} // namespace ingot::cpu::checks

#include "dialects/cpu/CpuInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/cpu/CpuOps.h.inc"

namespace ingot::cpu {

/// What attention keeps on the stack: queries, and a vector of scores for each
/// key; of more keys, or of open sizes, for those of a block.
constexpr int64_t kMostKeysAtOnce = 1024, kMaxHeadSize = 256;

/// An AMX tile, of every CPU that has them: its rows, and the words of four
/// bytes in a row.
constexpr int64_t kAmxRows = 16, kAmxWords = 16;

/// The positions of `channels` elements that a vector of the widest level holds
/// for cpu.band_matmul, a power of two. Narrower levels hold a divisor of it.
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
