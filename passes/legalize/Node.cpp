//===- Node.cpp - an ONNX node while it is legalized ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Legalize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ingot::legalize;

bool Node::has(size_t i) {
  return i < numInputs() && !isa<NoneType>(op.getInputs()[i].getType());
}

Value Node::input(size_t i) { return has(i) ? op.getInputs()[i] : Value(); }

RankedTensorType Node::type(size_t i) {
  return cast<RankedTensorType>(op.getInputs()[i].getType());
}

bool Node::isUsed(size_t i) {
  return i < numOutputs() && !op.getOutputs()[i].use_empty();
}

RankedTensorType Node::resultHint(size_t i) {
  return dyn_cast<RankedTensorType>(op.getOutputs()[i].getType());
}

int64_t Node::getInt(StringRef name, int64_t otherwise) {
  auto attr = op.getNodeAttrs().getAs<IntegerAttr>(name);
  return attr ? attr.getInt() : otherwise;
}

float Node::getFloat(StringRef name, float otherwise) {
  auto attr = op.getNodeAttrs().getAs<FloatAttr>(name);
  return attr ? float(attr.getValueAsDouble()) : otherwise;
}

StringRef Node::getString(StringRef name, StringRef otherwise) {
  auto attr = op.getNodeAttrs().getAs<StringAttr>(name);
  return attr ? attr.getValue() : otherwise;
}

std::optional<SmallVector<int64_t>> Node::getInts(StringRef name) {
  auto attr = op.getNodeAttrs().getAs<DenseI64ArrayAttr>(name);
  if (!attr)
    return std::nullopt;
  return SmallVector<int64_t>(attr.asArrayRef());
}

std::optional<SmallVector<float>> Node::getFloats(StringRef name) {
  auto attr = op.getNodeAttrs().getAs<DenseF32ArrayAttr>(name);
  if (!attr)
    return std::nullopt;
  return SmallVector<float>(attr.asArrayRef());
}

ElementsAttr Node::getTensor(StringRef name) {
  return op.getNodeAttrs().getAs<ElementsAttr>(name);
}

bool Node::hasAttr(StringRef name) { return op.getNodeAttrs().contains(name); }

std::optional<SmallVector<int64_t>> Node::getConstantInts(size_t i) {
  return nn::getConstantInts(input(i));
}

FailureOr<int64_t> Node::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return invalid("axis " + Twine(axis) + " is outside of [" + Twine(-rank) +
                   ", " + Twine(rank) + ")");
  return axis < 0 ? axis + rank : axis;
}

LogicalResult Node::inferTypes(OperationState &state, InferTypes infer) {
  std::string message;
  {
    ScopedDiagnosticHandler handler(context(), [&](Diagnostic &diagnostic) {
      message = diagnostic.str();
      return success();
    });
    state.types.clear();
    if (succeeded(infer(context(), loc(), state.operands,
                        state.attributes.getDictionary(context()),
                        state.getRawProperties(), state.regions, state.types)))
      return success();
  }
  return invalid(message);
}

Operation *Node::createVerified(OperationState &state) {
  std::string message;
  Operation *created = builder.create(state);
  {
    ScopedDiagnosticHandler handler(context(), [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    if (succeeded(verify(created, /*verifyRecursively=*/false)))
      return created;
  }
  created->erase();
  // The model's author knows the ONNX operator, not the nn op.
  auto [prefix, rest] = StringRef(message).split("' op ");
  (void)invalid(rest.empty() ? prefix : rest);
  return nullptr;
}

LogicalResult Node::replace(ValueRange values) {
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    if (i < values.size() && values[i])
      output.replaceAllUsesWith(values[i]);
    else if (!output.use_empty())
      return unsupported("output " + Twine(i));
  }
  return success();
}

LogicalResult Node::unsupported(const Twine &what) {
  return emitError(loc()) << opType() << " (opset " << opset
                          << ") is not supported: " << what;
}

LogicalResult Node::invalid(const Twine &what) {
  return emitError(loc()) << opType() << " (opset " << opset
                          << ") is invalid: " << what;
}
