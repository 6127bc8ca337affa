//===- Pad.cpp - Pad, CenterCropPad ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Helpers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Constant padding by amounts that are only known at run time, to a known size.
static LogicalResult padComputed(Node &node, Value fill,
                                 ArrayRef<OpFoldResult> low,
                                 RankedTensorType type) {
  Value x = node.input(0);
  Sizes sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(sizeAttr(node, size));
  SmallVector<Value> lows, lasts;
  for (auto [i, amount] : llvm::enumerate(low)) {
    lows.push_back(indexValue(node, amount));
    lasts.push_back(indexValue(
        node, subSizes(node, sizeOf(node, x, i), sizeAttr(node, 1))));
  }
  return node.replace(generate(
      node, typeOf(x).getElementType(), sizes,
      [&](OpBuilder &b, Location loc, ValueRange indices) {
        Value zero = arith::ConstantIndexOp::create(b, loc, 0);
        Value inside = arith::ConstantIntOp::create(b, loc, 1, 1);
        SmallVector<Value> at;
        for (auto [i, index] : llvm::enumerate(indices)) {
          Value from = arith::SubIOp::create(b, loc, index, lows[i]);
          Value held = arith::MaxSIOp::create(
              b, loc, arith::MinSIOp::create(b, loc, from, lasts[i]), zero);
          Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                             from, held);
          inside = arith::AndIOp::create(b, loc, inside, same);
          at.push_back(held);
        }
        Value element = tensor::ExtractOp::create(b, loc, x, at);
        Value outside = tensor::ExtractOp::create(b, loc, fill, ValueRange());
        return arith::SelectOp::create(b, loc, inside, element, outside);
      }));
}

static LogicalResult legalizePad(Node &node) {
  Value x = node.input(0);
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  StringRef modeName = node.getString("mode", "constant");
  std::optional<nn::PadMode> mode = nn::symbolizePadMode(modeName);
  if (!mode)
    return node.invalid("mode is " + modeName);

  Sizes pads;
  if (node.has(1)) {
    auto elements = elementsOf(node, node.input(1));
    if (failed(elements))
      return failure();
    pads = *elements;
  } else if (auto ints = node.getInts("pads")) {
    for (int64_t pad : *ints)
      pads.push_back(sizeAttr(node, pad));
  } else {
    return node.invalid("pads is missing");
  }
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    auto ints = node.getConstantInts(3);
    if (!ints)
      return node.unsupported("computed axes");
    auto normal = normalizeAxes(node, *ints, rank);
    if (failed(normal))
      return failure();
    axes = *normal;
  }
  if (pads.size() != 2 * axes.size())
    return node.invalid("pads needs " + Twine(2 * axes.size()) +
                        " elements, but has " + Twine(pads.size()));

  Value fill;
  if (*mode == nn::PadMode::constant) {
    if (node.has(2)) {
      if (!node.type(2).hasStaticShape() || node.type(2).getNumElements() != 1)
        return node.invalid("the value needs one element");
      fill = reshape(node, node.input(2), ArrayRef<int64_t>());
    } else {
      fill = scalar(node, type.getElementType(), node.getFloat("value", 0));
    }
  }
  Sizes lowSizes(rank, sizeAttr(node, 0));
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  bool isConstant = true;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    auto before = getConstantIntValue(pads[i]),
         after = getConstantIntValue(pads[i + axes.size()]);
    lowSizes[axis] = pads[i];
    isConstant &= before && after;
    if (!isConstant)
      continue;
    for (int64_t pad : {*before, *after})
      if (std::abs(pad) >= int64_t(1) << 31)
        return node.invalid("pads has the element " + Twine(pad));
    low[axis] = *before;
    high[axis] = *after;
    int64_t size = type.getDimSize(axis);
    bool mirrors = *mode == nn::PadMode::reflect;
    if (mirrors && !ShapedType::isDynamic(size) &&
        std::max(*before, *after) >= std::max<int64_t>(size, 1) &&
        std::max(*before, *after) > 0)
      return node.unsupported("reflection of more than a dimension holds");
    if (*mode != nn::PadMode::constant && size == 0 &&
        (*before > 0 || *after > 0))
      return node.invalid("an empty dimension has nothing to pad with");
  }
  if (!isConstant) {
    RankedTensorType hint = node.resultHint(0);
    if (!fill || !hint || !hint.hasStaticShape() || hint.getRank() != rank ||
        llvm::is_contained(type.getShape(), 0))
      return node.unsupported("computed pads");
    return padComputed(node, fill, lowSizes, hint);
  }
  auto y = node.infer<nn::PadOp>(x, fill, low, high, *mode);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeCenterCropPad(Node &node) {
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  auto shape = node.getConstantInts(1);
  if (!shape) {
    RankedTensorType hint = node.resultHint(0);
    if (!hint || !hint.hasStaticShape() || hint.getRank() != rank)
      return node.unsupported("a computed shape");
    shape = SmallVector<int64_t>();
    for (int64_t axis : node.getInts("axes").value_or(
             llvm::to_vector(llvm::seq<int64_t>(0, rank)))) {
      auto normal = node.normalizeAxis(axis, rank);
      if (failed(normal))
        return failure();
      shape->push_back(hint.getDimSize(*normal));
    }
  }
  auto axes = normalizeAxes(
      node,
      node.getInts("axes").value_or(llvm::to_vector(llvm::seq<int64_t>(0, rank))),
      rank);
  if (failed(axes))
    return failure();
  if (shape->size() != axes->size())
    return node.invalid("the shape needs " + Twine(axes->size()) +
                        " elements, but has " + Twine(shape->size()));
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  for (auto [axis, wanted] : llvm::zip_equal(*axes, *shape)) {
    int64_t size = type.getDimSize(axis);
    if (ShapedType::isDynamic(size))
      return node.unsupported("a dynamic dimension; fix it with --shape");
    if (wanted < 0 || wanted >= int64_t(1) << 31)
      return node.invalid("the shape has the element " + Twine(wanted));
    int64_t more = wanted - size;
    low[axis] = more >= 0 ? more / 2 : -((-more) / 2);
    high[axis] = more - low[axis];
  }
  auto y = node.infer<nn::PadOp>(node.input(0),
                                 scalar(node, type.getElementType(), 0), low,
                                 high, nn::PadMode::constant);
  return failed(y) ? failure() : node.replace(*y);
}

void legalize::populatePad(Legalizers &legalizers) {
  legalizers.add("CenterCropPad", legalizeCenterCropPad);
  legalizers.add("Pad", legalizePad);
}
