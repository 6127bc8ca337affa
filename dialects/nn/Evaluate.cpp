//===- Evaluate.cpp - computing ops on constants --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Evaluate.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/EvaluateImpl.h"
#include "dialects/nn/NNDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ingot;

//===----------------------------------------------------------------------===//
// Functions that the families share
//===----------------------------------------------------------------------===//

ElementsAttr nn::makeIntsAttr(RankedTensorType type, ArrayRef<int64_t> values) {
  Type element = type.getElementType();
  int64_t width = elementBytes(element);
  bool isBool = element.isInteger(1);
  // Clears the bits of a byte that are not part of an element.
  uint64_t own = element.isIntOrFloat()
                     ? llvm::maskTrailingOnes<uint64_t>(
                           element.getIntOrFloatBitWidth())
                     : ~uint64_t(0);
  std::vector<char> bytes;
  bytes.reserve(values.size() * width);
  for (int64_t value : values) {
    uint64_t bits = isBool ? value != 0 : uint64_t(value) & own;
    for (int64_t i = 0; i < width; ++i)
      bytes.push_back(char(bits >> (8 * i)));
  }
  return makeConstantAttr(type, std::move(bytes));
}

bool nn::isSplat(ElementsAttr attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  return dense && dense.isSplat();
}

SmallVector<int64_t> nn::stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

SmallVector<int64_t> nn::broadcastStrides(ArrayRef<int64_t> from,
                                          ArrayRef<int64_t> to) {
  SmallVector<int64_t> own = stridesOf(from), strides(to.size(), 0);
  size_t lead = to.size() - from.size();
  for (auto [d, size] : llvm::enumerate(from))
    strides[lead + d] = size == 1 ? 0 : own[d];
  return strides;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

/// Returns true if elements have at most eight bytes, or are complex numbers
/// with parts of at most eight bytes.
static bool hasPlainElements(RankedTensorType type) {
  Type element = type.getElementType();
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  return element.isIndex() || (element.isIntOrFloat() &&
                               element.getIntOrFloatBitWidth() <= 64);
}

/// Largest size in bytes of a splat result that becomes a constant. A model
/// without the values of its weights may thus take this size in the artifact.
static constexpr int64_t kMaxSplatBytes = int64_t(1) << 30;

/// Returns true if the result is a splat whenever all operands are splats.
static bool keepsSplats(Operation *op) {
  return (isa<nn::ElementwiseOpInterface>(op) && !isa<nn::SelectOp>(op)) ||
         isa<nn::TransposeOp, nn::ReshapeOp, nn::BroadcastToOp, nn::SliceOp,
             tensor::CastOp>(op);
}

/// Returns the elements of a list that are constant, and zeros for the others.
/// `unknown` marks the others.
static std::optional<std::array<ElementsAttr, 2>> knownParts(Value list) {
  auto elements = list.getDefiningOp<tensor::FromElementsOp>();
  auto type = dyn_cast<RankedTensorType>(list.getType());
  if (!elements || type.getRank() != 1 || !type.getElementType().isInteger(64))
    return std::nullopt;
  SmallVector<int64_t> values, isOpen;
  for (Value element : elements.getElements()) {
    APInt value;
    bool isKnown = matchPattern(element, m_ConstantInt(&value));
    values.push_back(isKnown ? value.getSExtValue() : 0);
    isOpen.push_back(!isKnown);
  }
  return std::array{nn::makeIntsAttr(type, values),
                    nn::makeIntsAttr(type, isOpen)};
}

/// Evaluates an op that selects elements of a list, if the selected elements
/// are constants. For example, the list contains the sizes of a tensor, and
/// some of them are dynamic.
static ElementsAttr evaluatePart(Operation *op, RankedTensorType type) {
  constexpr int64_t kMostListed = 64;
  if (!isa<nn::GatherOp, nn::SliceOp>(op) ||
      type.getNumElements() > kMostListed)
    return {};
  auto parts = knownParts(op->getOperand(0));
  if (!parts)
    return {};
  SmallVector<ElementsAttr> operands = {(*parts)[1]};
  if (op->getNumOperands() == 2)
    operands.push_back(nn::getConstant(op->getOperand(1)));
  if (op->getNumOperands() > 2 || !operands.back())
    return {};
  ElementsAttr isOpen = nn::evaluateMovement(op, operands, type);
  auto flags = isOpen ? nn::readInts(isOpen) : std::nullopt;
  if (!flags || llvm::is_contained(*flags, 1))
    return {};
  operands.front() = (*parts)[0];
  return nn::evaluateMovement(op, operands, type);
}

ElementsAttr nn::evaluate(Operation *op, int64_t maxElements) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumRegions() != 0)
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || !hasPlainElements(type))
    return {};
  if (ElementsAttr attr = evaluatePart(op, type))
    return attr;
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    ElementsAttr attr = getConstant(operand);
    auto from = attr ? dyn_cast<RankedTensorType>(attr.getType())
                     : RankedTensorType();
    if (!from || !hasPlainElements(from))
      return {};
    operands.push_back(attr);
  }
  // Keeps a splat as a splat, which takes no memory at any size.
  bool isSmall = type.getNumElements() <= maxElements;
  if (!isSmall && !(type.getNumElements() <=
                        kMaxSplatBytes / elementBytes(type.getElementType()) &&
                    keepsSplats(op) && llvm::all_of(operands, isSplat)))
    return {};
  if (ElementsAttr attr = evaluateElementwise(op, operands, type))
    return attr;
  if (ElementsAttr attr = evaluateMovement(op, operands, type))
    return attr;
  if (ElementsAttr attr = evaluateReduction(op, operands, type))
    return attr;
  return evaluateQuantize(op, operands, type);
}

bool nn::foldInPlace(Operation *op, int64_t maxElements) {
  if (op->getNumResults() != 1 || !isMemoryEffectFree(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  OpBuilder builder(op);
  Value replacement;
  if (ElementsAttr attr = evaluate(op, maxElements)) {
    replacement = arith::ConstantOp::create(builder, op->getLoc(),
                                            cast<TypedAttr>(attr));
  } else {
    SmallVector<Value> folded;
    if (failed(builder.tryFold(op, folded)) || folded.size() != 1)
      return false;
    replacement = folded.front();
  }
  op->getResult(0).replaceAllUsesWith(replacement);
  op->erase();
  return true;
}
