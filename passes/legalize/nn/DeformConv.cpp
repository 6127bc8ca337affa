//===- DeformConv.cpp - DeformConv ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/nn/WindowAttributes.h"
#include "passes/legalize/vision/Sampling.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using support::Scalars;

/// Builds columns of the elements that each output position reads, and
/// multiplies them by the weights.
static LogicalResult legalizeDeformConv(Node &node) {
  if (!node.has(0) || !node.has(1) || !node.has(2) || node.rank(0) != 4 ||
      node.rank(1) != 4 || node.rank(2) != 4)
    return node.invalid("X, W and offset of rank 4 are needed");
  int64_t groups = node.getInt("group", 1);
  if (int64_t each = node.shape(1)[1]; !ShapedType::isDynamic(each))
    node.op.getInputsMutable()[0].set(
        pinDim(node, node.input(0), /*dim=*/1, each * groups, "X"));
  Value x = node.input(0), w = node.input(1);
  RankedTensorType weights = typeOf(w);
  if (!weights.hasStaticShape() || node.type(0).isDynamicDim(1))
    return node.unsupported("weights or channels of open size; fix them with "
                            "--shape");
  SmallVector<int64_t> kernel(weights.getShape().drop_front(2));
  if (auto stated = node.getInts("kernel_shape"); stated && *stated != kernel)
    return node.invalid("kernel_shape is not that of the weights");
  auto window = readWindow(node, kernel);
  if (failed(window))
    return failure();
  int64_t offsets = node.getInt("offset_group", 1),
          channels = node.shape(0)[1], outputs = weights.getDimSize(0),
          points = kernel[0] * kernel[1];
  if (groups < 1 || offsets < 1 || channels % groups || outputs % groups ||
      channels % offsets || weights.getDimSize(1) * groups != channels)
    return node.invalid("X has " + Twine(channels) + " channels and W " +
                        Twine(outputs) + " outputs of " +
                        Twine(weights.getDimSize(1)) + ", which " +
                        Twine(groups) + " groups and " + Twine(offsets) +
                        " groups of offsets do not fit");
  OpFoldResult batch = sizeOf(node, x, 0);
  Sizes result;
  for (int64_t d : {0, 1}) {
    OpFoldResult padded = addSizes(
        node, sizeOf(node, x, 2 + d),
        sizeAttr(node, window->pads[d] + window->pads[2 + d]));
    if (failed(requireFit(node, nn::SizeRelation::atLeast, padded,
                          sizeAttr(node, window->span(d)),
                          "the dilated kernel is larger than the padded input: "
                          "{1} against {0} in spatial dimension " +
                              Twine(d))))
      return failure();
    result.push_back(addSizes(
        node,
        divSizes(node,
                 subSizes(node, padded, sizeAttr(node, window->span(d))),
                 sizeAttr(node, window->strides[d])),
        sizeAttr(node, 1)));
  }
  auto check = [&](size_t i, int64_t parts, StringRef name) -> LogicalResult {
    if (node.rank(i) != 4)
      return node.invalid(name + " of rank 4 is needed");
    Sizes wanted = {batch, sizeAttr(node, offsets * points * parts), result[0],
                    result[1]};
    for (auto [d, size] : llvm::enumerate(wanted))
      if (failed(requireFit(node, nn::SizeRelation::equal,
                            sizeOf(node, node.input(i), d), size,
                            "dimension " + Twine(d) + " of " + name +
                                " is {0}, but must be {1}")))
        return failure();
    return success();
  };
  if (failed(check(2, 2, "offset")) ||
      (node.has(4) && failed(check(4, 1, "mask"))) ||
      failed(requireSpatial(node, x)))
    return failure();
  Type f32 = node.builder.getF32Type(), element = node.elementType(0);
  Value offset = castTo(node, node.input(2), f32),
        mask = node.has(4) ? castTo(node, node.input(4), f32) : Value();
  OpFoldResult positions = mulSizes(node, result[0], result[1]);
  SmallVector<Value> sizes = {indexValue(node, sizeOf(node, x, 2)),
                              indexValue(node, sizeOf(node, x, 3))};
  Value columns = indexValue(node, result[1]),
        area = indexValue(node, positions);
  // Shape: (corner, batch times offset groups, kernel points times positions).
  Sizes shape = {sizeAttr(node, 4),
                 mulSizes(node, batch, sizeAttr(node, offsets)),
                 mulSizes(node, sizeAttr(node, points), positions)};
  auto div = [](Scalars s, Value a, Value b) -> Value {
    return arith::DivUIOp::create(s.b, s.loc, a, b);
  };
  auto rem = [](Scalars s, Value a, Value b) -> Value {
    return arith::RemUIOp::create(s.b, s.loc, a, b);
  };
  auto pointOf = [&](Scalars s, ValueRange at, Value &share) {
    Value n = div(s, at[1], s.n(offsets)), g = rem(s, at[1], s.n(offsets));
    Value k = div(s, at[2], area), p = rem(s, at[2], area);
    Value place[2] = {div(s, p, columns), rem(s, p, columns)};
    Value tap[2] = {div(s, k, s.n(kernel[1])), rem(s, k, s.n(kernel[1]))};
    SmallVector<Value> point;
    for (int64_t d : {0, 1}) {
      Value channel = s.add(
          s.mul(s.add(s.mul(g, s.n(points)), k), s.n(2)), s.n(d));
      Value moved =
          floatAt(s, offset, ValueRange{n, channel, place[0], place[1]});
      Value base = s.sub(s.add(s.mul(place[d], s.n(window->strides[d])),
                               s.mul(tap[d], s.n(window->dilations[d]))),
                         s.n(window->pads[d]));
      Value whole = asI64(s, base);
      Value number = arith::SIToFPOp::create(s.b, s.loc, f32, whole);
      point.push_back(
          holdNear(s, s.add(number, moved), sizes[d], /*margin=*/4));
    }
    if (mask)
      share = floatAt(s, mask,
                      ValueRange{n, s.add(s.mul(g, s.n(points)), k), place[0],
                                 place[1]});
    return point;
  };
  Taps taps;
  taps.at = generate(node, node.builder.getI64Type(), shape,
                     [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
                       Scalars s{b, loc};
                       Value share;
                       return asI64(s, cornerOf(s, at[0],
                                                pointOf(s, at, share), sizes)
                                           .at);
                     });
  taps.weights = generate(
      node, f32, shape,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Scalars s{b, loc};
        Value share;
        SmallVector<Value> point = pointOf(s, at, share);
        Value weight = cornerOf(s, at[0], point, sizes).weight;
        return share ? s.mul(weight, share) : weight;
      });
  Sizes split = {shape[1], sizeAttr(node, channels / offsets),
                 sizeOf(node, x, 2), sizeOf(node, x, 3)};
  Value data = flattenSpatial(
      node, reshape(node, castTo(node, x, f32), split));
  Value read = sumOfTaps(node, data, Value(), taps);
  int64_t depth = channels / groups * points;
  Value right = reshape(node, read, {batch, sizeAttr(node, groups),
                                     sizeAttr(node, depth), positions});
  Value left = reshape(node, castTo(node, w, f32),
                       ArrayRef<int64_t>{groups, outputs / groups, depth});
  auto y = node.infer<nn::MatMulOp>(left, right, Value(), false, false);
  if (failed(y))
    return failure();
  Value all = reshape(node, *y,
                      {batch, sizeAttr(node, outputs), result[0], result[1]});
  if (node.has(3)) {
    if (node.rank(3) != 1 || node.shape(3)[0] != outputs)
      return node.invalid("B needs one element an output");
    auto sum = node.infer<nn::AddOp>(
        all, reshape(node, castTo(node, node.input(3), f32),
                     ArrayRef<int64_t>{outputs, 1, 1}));
    if (failed(sum))
      return failure();
    all = *sum;
  }
  return node.replace(castTo(node, all, element));
}

void legalize::populateDeformConv(Legalizers &legalizers) {
  legalizers.add("DeformConv", legalizeDeformConv);
}
