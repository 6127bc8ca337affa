//===- Attention.cpp - building blocks of attention -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/attention/Attention.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

LogicalResult legalize::isOnly(Node &node, Value x, int64_t d,
                               OpFoldResult size, StringRef name) {
  return requireFit(node, nn::SizeRelation::equal, sizeOf(node, x, d), size,
                    "dimension " + Twine(d) + " of " + name +
                        " is {0}, but must be {1}");
}

FailureOr<Value> legalize::splitHeads(Node &node, Value x, int64_t heads,
                                      StringRef name) {
  int64_t width = typeOf(x).getShape().back();
  if (ShapedType::isDynamic(width))
    return node.unsupported("heads of open width; fix it with --shape");
  if (width == 0 || width % heads != 0)
    return node.invalid("the last dimension of " + name + " is " +
                        Twine(width) + ", no multiple of " + Twine(heads) +
                        " heads");
  Sizes sizes = sizesOf(node, x);
  sizes.back() = sizeAttr(node, heads);
  sizes.push_back(sizeAttr(node, width / heads));
  return reshape(node, x, sizes);
}

Value legalize::swapHeads(Node &node, Value x) {
  return transpose(node, x, {0, 2, 1, 3});
}

Value legalize::mergeHeads(Node &node, Value x) {
  Sizes sizes = sizesOf(node, swapHeads(node, x));
  OpFoldResult width = mulSizes(node, sizes[2], sizes[3]);
  return reshape(node, swapHeads(node, x), {sizes[0], sizes[1], width});
}

double legalize::scaleOf(Node &node, Value q) {
  float stated = node.getFloat("scale", 0);
  return stated ? double(stated)
                : 1 / std::sqrt(double(typeOf(q).getShape().back()));
}

FailureOr<Value> legalize::addMasks(Node &node, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return node.infer<nn::AddOp>(a, b);
}

FailureOr<Value> legalize::attend(Node &node, const AttentionParts &parts) {
  Type type = typeOf(parts.q).getElementType();
  auto scores = node.infer<nn::MatMulOp>(parts.q, parts.k, Value(),
                                         /*transpose_a=*/false,
                                         /*transpose_b=*/true);
  if (failed(scores))
    return failure();
  // Divides by the cap before tanh, and multiplies by it after.
  double cap = parts.cap ? parts.cap : 1;
  Value x =
      binary<nn::MulOp>(node, *scores, scalar(node, type, parts.scale / cap));
  if (parts.cap)
    x = binary<nn::MulOp>(node, node.make<nn::TanhOp>(x),
                          scalar(node, type, cap));
  if (parts.mask) {
    int64_t rank = typeOf(x).getRank(),
            lead = rank - typeOf(parts.mask).getRank();
    for (int64_t d = lead; d < rank; ++d)
      if (failed(requireFit(node, nn::SizeRelation::broadcastTo,
                            sizeOf(node, parts.mask, d - lead),
                            sizeOf(node, *scores, d),
                            "dimension " + Twine(d - lead) +
                                " of the mask of {0} elements does not "
                                "broadcast to {1} of the scores")))
        return failure();
    auto masked = node.infer<nn::AddOp>(x, castTo(node, parts.mask, type));
    if (failed(masked))
      return failure();
    x = *masked;
  }
  Value weights = node.make<nn::SoftmaxOp>(x, typeOf(x).getRank() - 1,
                                           /*log=*/false);
  return node.infer<nn::MatMulOp>(weights, parts.v, Value(), false, false);
}

Value legalize::causalMask(Node &node, OpFoldResult steps, OpFoldResult keys,
                           OpFoldResult past) {
  Type type = node.builder.getF32Type();
  Value first = indexValue(node, past);
  double lowest = std::numeric_limits<float>::lowest();
  auto known = getConstantIntValue(past);
  auto rows = getConstantIntValue(steps), columns = getConstantIntValue(keys);
  constexpr int64_t kMaxConstant = int64_t(1) << 20;
  if (known && rows && columns && *rows <= kMaxConstant &&
      *columns <= kMaxConstant && *rows * *columns <= kMaxConstant) {
    std::vector<double> values;
    for (int64_t s = 0; s < *rows; ++s)
      for (int64_t t = 0; t < *columns; ++t)
        values.push_back(t <= *known + s ? 0 : lowest);
    return nn::makeConstant(node.builder, node.loc(),
                            RankedTensorType::get({*rows, *columns}, type),
                            values);
  }
  return generate(node, type, {steps, keys},
                  [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                    Indices i{b, loc};
                    auto number = [&](double value) -> Value {
                      return arith::ConstantOp::create(
                          b, loc, b.getF32FloatAttr(value));
                    };
                    return i.choose(i.less(i.add(first, at[0]), at[1]),
                                    number(lowest), number(0));
                  });
}
