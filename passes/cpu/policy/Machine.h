//===- Machine.h - facts about the targets of a module ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_MACHINE_H
#define INGOT_PASSES_CPU_POLICY_MACHINE_H

#include "passes/cpu/policy/Levels.h"

namespace ingot::cpu {

/// The facts about the module's targets that rules about bytes use.
struct Machine {
  /// Reads the facts from the module around `op`.
  explicit Machine(mlir::Operation *op)
      : asInt16(multipliesAsInt16(op)),
        numbers(TargetsAttr::of(op).getNumbers()) {}

  /// True if all levels multiply bytes as int16.
  bool asInt16;
  /// The numbers of a core, which all levels share.
  TargetNumbers numbers;
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_MACHINE_H
