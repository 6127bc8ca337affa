//===- ChainRows.h - chained addresses of rows ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_CHAINROWS_H
#define INGOT_COMPILER_EMIT_CHAINROWS_H

#include "llvm/IR/Function.h"

namespace ingot {

/// Finds loads of rows at one run-time distance in an innermost loop, and
/// computes each address from a previous one. Otherwise LLVM uses one register
/// per address. To save registers, its scheduler then loads all rows before the
/// first product and keeps sums on the stack.
void chainRows(llvm::Function &function);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_CHAINROWS_H
