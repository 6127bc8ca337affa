//===- SmallContractions.h - products of few rows or columns ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONTRACTION_SMALLCONTRACTIONS_H
#define INGOT_PASSES_CPU_KERNELS_CONTRACTION_SMALLCONTRACTIONS_H

#include "passes/cpu/kernels/contraction/Contraction.h"

namespace ingot::cpu {

/// Products with too few rows or columns for panels to pay.
struct SmallContractions : ContractionEmitterBase {
  using ContractionEmitterBase::ContractionEmitterBase;

  void emitRows();
  void emitColumns();

private:
  void emitSteps(Index row, Index firstK, int64_t steps);
  void emitSums(Index column, Index firstK, Index depth);
  void emitElements();
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONTRACTION_SMALLCONTRACTIONS_H
