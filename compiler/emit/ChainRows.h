//===- ChainRows.h - Addresses of rows from one another ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_CHAINROWS_H
#define INGOT_COMPILER_EMIT_CHAINROWS_H

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace ingot {

/// Whether a load is of what a row multiplies weights with: a scalar, or a few
/// narrow ones.
bool isOfRow(const llvm::LoadInst &load);

/// Where a round of an innermost loop loads from rows that are one distance
/// apart, which a run says, each address is computed from the one before. Given
/// a register for each of them, LLVM's scheduler loads all rows of a round
/// before the first product, to have fewer, and then keeps sums on the stack.
void chainRows(llvm::Function &function);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_CHAINROWS_H
