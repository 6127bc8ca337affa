//===- Node.cpp - an ONNX node while it is legalized ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/nn/NodeName.h"
#include "dialects/onnx/Limits.h"
#include "passes/legalize/core/Legalize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace ingot::legalize;

bool Node::has(size_t i) {
  return i < numInputs() && !isa<NoneType>(op.getInputs()[i].getType());
}

Value Node::input(size_t i) { return has(i) ? op.getInputs()[i] : Value(); }

RankedTensorType Node::type(size_t i) {
  return llvm::cast<RankedTensorType>(op.getInputs()[i].getType());
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

FailureOr<int64_t> Node::normalizeAxis(int64_t axis, int64_t rank,
                                       StringRef name,
                                       std::optional<int64_t> at) {
  if (rank == 0)
    return badElement(name, at, Twine(axis), "left out: the data has no axes");
  if (nn::Range range = nn::positionsOf(rank); !range.contains(axis))
    return badElement(name, at, Twine(axis), nn::describeRange(range));
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
  // Drops the name of the nn op, because users know only the ONNX operator.
  auto [prefix, rest] = StringRef(message).split("' op ");
  (void)invalid(rest.empty() ? prefix : rest);
  return nullptr;
}

Value Node::cast(Value value, Type elementType) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  return make<nn::CastOp>(type.clone(elementType), value);
}

Value Node::splat(Value scalar, Value like) {
  auto shape = llvm::cast<RankedTensorType>(like.getType());
  Type element =
      llvm::cast<RankedTensorType>(scalar.getType()).getElementType();
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < shape.getRank(); ++i)
    if (shape.isDynamicDim(i))
      sizes.push_back(builder.createOrFold<tensor::DimOp>(loc(), like, i));
  return make<nn::BroadcastToOp>(shape.clone(element), scalar, sizes);
}

LogicalResult Node::replace(ValueRange values) {
  for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
    auto type = i < values.size() && values[i]
                    ? dyn_cast<RankedTensorType>(values[i].getType())
                    : RankedTensorType();
    if (type && type.getRank() > ingot::onnx::kMostDimensions)
      return invalid("output " + Twine(i) + " would have " +
                     Twine(type.getRank()) + " dimensions, but " +
                     Twine(ingot::onnx::kMostDimensions) + " is the most");
    if (i < values.size() && values[i])
      output.replaceAllUsesWith(values[i]);
    else if (!output.use_empty())
      return unsupported("output " + Twine(i));
  }
  return success();
}

LogicalResult Node::unsupported(const Twine &what) {
  progress.lacksSupport = true;
  return emitError(loc()) << opType() << " (opset " << statedOpset
                          << ") is not supported: " << oneLine(what.str());
}

LogicalResult Node::invalid(const Twine &what) {
  return emitError(loc()) << opType() << " (opset " << statedOpset
                          << ") is invalid: " << oneLine(what.str());
}

LogicalResult Node::badElement(StringRef name, std::optional<int64_t> at,
                               const Twine &value, const Twine &allowed) {
  SmallVector<int64_t, 1> place;
  if (at)
    place.push_back(*at);
  return badElementAt(name, place, value, allowed);
}

LogicalResult Node::badElementAt(StringRef name, ArrayRef<int64_t> place,
                                 const Twine &value, const Twine &allowed) {
  return invalid(nn::describeElement(name, place, value) + ", but must be " +
                 allowed);
}

LogicalResult Node::badLength(StringRef name, size_t length,
                              const Twine &wanted) {
  return invalid("'" + name + "' has " + Twine(length) +
                 (length == 1 ? " element" : " elements") +
                 ", but must have " + wanted);
}

LogicalResult Node::checkElements(size_t i, StringRef name, nn::Range range) {
  if (!has(i))
    return success();
  auto bad = nn::findOutside(input(i), range);
  if (!bad)
    return success();
  return badElementAt(name, bad->place, Twine(bad->value),
                      nn::describeRange(range));
}

Type ingot::legalize::elementTypeOf(MLIRContext *context, int64_t code) {
  if (!llvm::isInt<32>(code))
    return Type();
  Type type = ingot::elementTypeOf(int32_t(code), context);
  return type && isString(type) ? Type() : type;
}
