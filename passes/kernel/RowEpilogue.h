//===- RowEpilogue.h - epilogues of row kernels -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_KERNEL_ROWEPILOGUE_H
#define INGOT_PASSES_KERNEL_ROWEPILOGUE_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace ingot::kernel {

/// Gives a kernel an epilogue that multiplies by a scale and adds a bias, which
/// are epilogue operands of `type`. `Yield` ends the epilogue. The compiler may
/// contract both to a multiply-add, so that the product is not rounded.
template <typename Yield>
void buildRowEpilogue(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Region &epilogue, mlir::Type type, bool hasScale,
                      bool hasBias) {
  constexpr auto contract = mlir::arith::FastMathFlags::contract;
  mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Block *body = b.createBlock(&epilogue);
  mlir::Value y = body->addArgument(type, loc);
  if (hasScale)
    y = mlir::arith::MulFOp::create(b, loc, y, body->addArgument(type, loc),
                                    contract);
  if (hasBias)
    y = mlir::arith::AddFOp::create(b, loc, y, body->addArgument(type, loc),
                                    contract);
  Yield::create(b, loc, y);
}

} // namespace ingot::kernel

#endif // INGOT_PASSES_KERNEL_ROWEPILOGUE_H
