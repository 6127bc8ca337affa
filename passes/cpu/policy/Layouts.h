//===- Layouts.h - layouts of images ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_LAYOUTS_H
#define INGOT_PASSES_CPU_POLICY_LAYOUTS_H

#include "passes/backend/Policy.h"

namespace ingot::cpu {

Answer<Layout> chooseLayout(mlir::Operation *op);

/// Returns true if `product` is faster as a matrix product over its patches.
Answer<bool> isForPatches(nn::ConvOp product);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_LAYOUTS_H
