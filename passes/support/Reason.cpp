//===- Reason.cpp - reasons for declining an op ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/Reason.h"

#include "passes/support/Shapes.h"
#include "passes/support/TypeText.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ingot;

std::string ingot::describe(Type type) {
  std::string element = debugString(getElementTypeOrSelf(type));
  std::string text = elementName(element).value_or(element);
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return text;
  text += "[";
  for (auto [d, size] : llvm::enumerate(shaped.getShape()))
    text += (d ? "," : "") +
            (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
  return text + "]";
}

/// Calls `whyNot` for the tensor types of operands and results. Returns the
/// first reason. Skips scalars and sizes.
static Reason firstReason(Operation *op,
                          function_ref<Reason(ShapedType)> whyNot) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()),
                          TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (auto shaped = dyn_cast<ShapedType>(type))
        if (Reason reason = whyNot(shaped))
          return reason;
  return std::nullopt;
}

static Reason whyNotEmptyType(ShapedType type) {
  if (support::isKnownEmpty(type.getShape()))
    return "has the empty tensor " + describe(type);
  return std::nullopt;
}

Reason ingot::whyNotEmpty(Operation *op) {
  return firstReason(op, whyNotEmptyType);
}

Reason ingot::whyNotFloat32(Operation *op) {
  return firstReason(op, [](ShapedType type) -> Reason {
    if (!type.getElementType().isF32())
      return "computes " + describe(type) + ", where kernels compute float32";
    return whyNotEmptyType(type);
  });
}

Reason ingot::whyNotFactors(ArrayRef<int64_t> shape, ArrayRef<Value> factors) {
  for (Value factor : factors) {
    auto type = factor ? cast<ShapedType>(factor.getType()) : ShapedType();
    if (type && (!type.hasStaticShape() || type.getShape() != shape))
      return "has a factor, " + describe(type) +
             ", that is not as large as what is normalized";
  }
  return std::nullopt;
}

Reason ingot::whyNotBackend(Operation *op, StringRef backend) {
  BackendNameAttr chosen =
      IngotDialect::BackendAttrHelper(op->getContext()).getAttr(op);
  if (!chosen || chosen.getValue() == backend)
    return std::nullopt;
  return ("is computed by '" + chosen.getValue() + "'").str();
}
