//===- RecordPacking.h - packed weights in the decision trace ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_LOWER_RECORDPACKING_H
#define INGOT_PASSES_CPU_LOWER_RECORDPACKING_H

#include "mlir/IR/Operation.h"

namespace ingot::cpu {

/// Records how the weights of a product of the `cpu` dialect are stored.
void recordPacking(mlir::Operation *kernel);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_LOWER_RECORDPACKING_H
