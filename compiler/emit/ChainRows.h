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

/// Chains the addresses of rows at one run-time distance in an innermost loop:
/// each address is computed from the previous one. With one register per
/// address, LLVM's scheduler would load all rows before the first product to
/// save registers. It would then keep sums on the stack.
void chainRows(llvm::Function &function);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_CHAINROWS_H
