//===- NNMaker.h - makes nn ops ---------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LOOPS_NNMAKER_H
#define INGOT_PASSES_LOOPS_NNMAKER_H

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

namespace ingot::loops {

/// Builds nn ops at one location.
struct NNMaker {
  mlir::OpBuilder &b;
  mlir::Location loc;

  template <typename Op, typename... Args>
  mlir::Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...)->getResult(0);
  }
  mlir::Value scalar(mlir::Type type, double value) {
    return nn::makeScalar(b, loc, type, value);
  }
  mlir::Value cast(mlir::Value x, mlir::Type element) {
    if (support::typeOf(x).getElementType() == element)
      return x;
    return make<nn::CastOp>(support::typeOf(x).clone(element), x);
  }
};

} // namespace ingot::loops

#endif // INGOT_PASSES_LOOPS_NNMAKER_H
