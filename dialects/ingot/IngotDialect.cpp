//===- IngotDialect.cpp - ingot dialect -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;

#include "dialects/ingot/IngotDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/ingot/IngotOps.cpp.inc"

void IngotDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/ingot/IngotOps.cpp.inc"
      >();
}

LogicalResult RequireOp::verify() {
  if (getValues().size() > 2)
    return emitOpError("expects at most 2 values, but got ")
           << getValues().size();
  return success();
}

LogicalResult RequireOp::canonicalize(RequireOp op, PatternRewriter &rewriter) {
  if (!matchPattern(op.getHolds(), m_One()))
    return rewriter.notifyMatchFailure(op, "not known to hold");
  rewriter.eraseOp(op);
  return success();
}

LogicalResult BufferOp::verify() {
  if (int64_t number = getNumber(); number < 0)
    return emitOpError("expects a number that is not negative, but got ")
           << number;
  if (!cast<MemRefType>(getType()).getLayout().isIdentity())
    return emitOpError("expects a result without gaps, but got ") << getType();
  return success();
}
