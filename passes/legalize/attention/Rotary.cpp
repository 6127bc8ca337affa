//===- Rotary.cpp - RotaryEmbedding --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes RotaryEmbedding of ONNX and of ONNX Runtime. The ONNX function of
// the operator is not used, because its slices and broadcasts ignore the size
// constraints of the operator. With dynamic sizes, code for each element would
// test which operand element it reads.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/attention/Attention.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static constexpr StringRef kMicrosoft = "com.microsoft";

LogicalResult legalize::checkCaches(Node &node, size_t cos, size_t sin) {
  for (size_t i : {cos, sin})
    if (!node.has(i) || node.rank(i) != 2)
      return node.invalid("cos_cache and sin_cache of rank 2 are needed");
  for (int64_t d : {0, 1})
    if (failed(isOnly(node, node.input(sin), d,
                      sizeOf(node, node.input(cos), d), "sin_cache")))
      return failure();
  return success();
}

Value legalize::countFrom(Node &node, Value starts, OpFoldResult batch,
                          OpFoldResult steps) {
  Value first = castTo(node, starts, node.builder.getI64Type());
  Value step = countUp(node, {sizeAttr(node, 1), steps}, 1);
  Value list = binary<nn::AddOp>(node, unsqueeze(node, first, {1}), step);
  return broadcastTo(node, list, {batch, steps});
}

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

/// Takes `size` elements of the last dimension from `start` on.
static Value takeLast(Node &node, Value x, OpFoldResult start,
                      OpFoldResult size) {
  int64_t last = typeOf(x).getRank() - 1;
  auto from = getConstantIntValue(start), count = getConstantIntValue(size);
  if (from && count)
    return sliceAxis(node, x, last, *from, *count);
  Sizes starts(last + 1, sizeAttr(node, 0)), sizes = sizesOf(node, x);
  starts[last] = start;
  sizes[last] = size;
  return takePart(node, x, starts, sizes);
}

/// Returns the rotated width and the rest of each head. The rest is 0 if whole
/// heads are rotated.
static FailureOr<std::pair<OpFoldResult, OpFoldResult>>
partsOf(Node &node, Value x, const Rotation &rotation) {
  OpFoldResult width = sizeOf(node, x, 3),
               half = sizeOf(node, rotation.cos,
                             typeOf(rotation.cos).getRank() - 1),
               turned = mulSizes(node, half, sizeAttr(node, 2));
  auto known = getConstantIntValue(half), all = getConstantIntValue(width);
  if (!known && !rotation.isWhole)
    return node.unsupported("a cache of open width; fix it with --shape");
  if (known && all && (*known < 1 || 2 * *known > *all))
    return node.invalid("the caches turn " + Twine(2 * *known) +
                        " elements of heads of " + Twine(*all));
  if (rotation.isWhole)
    return std::pair(turned, OpFoldResult(sizeAttr(node, 0)));
  if (failed(requireFit(node, nn::SizeRelation::atLeast, width, turned,
                        "the caches rotate {1} elements of heads of {0}")))
    return failure();
  return std::pair(turned, subSizes(node, width, turned));
}

FailureOr<Value> legalize::rotate(Node &node, Value x,
                                  const Rotation &rotation) {
  auto parts = partsOf(node, x, rotation);
  if (failed(parts))
    return failure();
  auto [whole, rest] = *parts;
  OpFoldResult half = divSizes(node, whole, sizeAttr(node, 2));
  Type type = typeOf(x).getElementType();
  auto angles = [&](Value cache) -> Value {
    Value rows = castTo(node, cache, type);
    if (rotation.positions)
      rows = node.make<nn::GatherOp>(rows, rotation.positions, /*axis=*/0);
    return unsqueeze(node, rows, {rotation.headsAxis});
  };
  Value cos = angles(rotation.cos), sin = angles(rotation.sin), first, second;
  Value turned = getConstantIntValue(rest) == 0
                     ? x
                     : takeLast(node, x, sizeAttr(node, 0), whole);
  Sizes halves = sizesOf(node, x);
  halves[3] = half;
  if (rotation.isInterleaved) {
    Sizes pairs = halves;
    pairs.push_back(sizeAttr(node, 2));
    Value paired = reshape(node, turned, pairs);
    first = reshape(node, sliceAxis(node, paired, 4, 0, 1), halves);
    second = reshape(node, sliceAxis(node, paired, 4, 1, 1), halves);
  } else {
    first = takeLast(node, turned, sizeAttr(node, 0), half);
    second = takeLast(node, turned, half, half);
  }
  auto times = [&](Value a, Value b) {
    return node.infer<nn::MulOp>(a, b);
  };
  auto a = times(first, cos), b = times(second, sin), c = times(first, sin),
       d = times(second, cos);
  if (failed(a) || failed(b) || failed(c) || failed(d))
    return failure();
  auto real = node.infer<nn::SubOp>(*a, *b),
       other = node.infer<nn::AddOp>(*c, *d);
  if (failed(real) || failed(other))
    return failure();
  Value y;
  if (rotation.isInterleaved) {
    Sizes all = halves;
    all[3] = whole;
    y = reshape(node,
                concat(node, {unsqueeze(node, *real, {4}),
                              unsqueeze(node, *other, {4})},
                       4),
                all);
  } else {
    y = concat(node, {*real, *other}, 3);
  }
  if (getConstantIntValue(rest) == 0)
    return y;
  return concat(node, {y, takeLast(node, x, whole, rest)}, 3);
}

/// Reshapes (batch, steps, heads width) to (batch, steps, heads, width). If
/// `heads` is 0, `width` decides the split.
static FailureOr<Value> splitRotated(Node &node, Value x, int64_t heads,
                                     OpFoldResult width) {
  if (heads && !typeOf(x).isDynamicDim(2))
    return splitHeads(node, x, heads, "the input");
  Sizes sizes = sizesOf(node, x);
  OpFoldResult count = heads ? OpFoldResult(sizeAttr(node, heads)) : width;
  if (failed(requireFit(node, nn::SizeRelation::multipleOf, sizes[2], count,
                        "the last dimension of the input is {0}, no multiple "
                        "of {1}")))
    return failure();
  OpFoldResult other = divSizes(node, sizes[2], count);
  sizes[2] = heads ? count : other;
  sizes.push_back(heads && !width ? other : heads ? width : count);
  return reshape(node, x, sizes);
}

//===----------------------------------------------------------------------===//
// Operators of ONNX and ONNX Runtime
//===----------------------------------------------------------------------===//

static LogicalResult legalizeRotaryEmbedding(Node &node) {
  if (failed(requireRotaryEmbedding(node)))
    return failure();
  Value x = node.input(0);
  bool isFlat = node.rank(0) == 3;
  int64_t last = node.rank(1) - 1, dim = node.getInt("rotary_embedding_dim", 0);
  Rotation rotation = {node.input(1), node.input(2), node.input(3),
                       node.getInt("interleaved", 0) != 0,
                       /*isWhole=*/dim == 0, /*headsAxis=*/isFlat ? 2 : 1};
  if (dim) {
    rotation.cos = pinDim(node, rotation.cos, last, dim / 2, "cos_cache");
    rotation.sin = pinDim(node, rotation.sin, last, dim / 2, "sin_cache");
  }
  if (isFlat) {
    OpFoldResult width;
    if (!dim)
      width = mulSizes(node, sizeOf(node, rotation.cos, last),
                       sizeAttr(node, 2));
    auto split = splitRotated(node, x, node.getInt("num_heads", 0), width);
    if (failed(split))
      return failure();
    x = *split;
  }
  auto y = rotate(node, x, rotation);
  if (failed(y))
    return failure();
  return node.replace(
      isFlat ? reshape(node, *y, sizesOf(node, node.input(0))) : *y);
}

static LogicalResult legalizeMicrosoftRotaryEmbedding(Node &node) {
  if (node.getInt("is_packed_batching", 0))
    return node.unsupported("is_packed_batching");
  if (node.getFloat("scale", 1) != 1)
    return node.unsupported("a scale of " +
                            numberText(node.getFloat("scale", 1)));
  if (!node.has(0) || (node.rank(0) != 3 && node.rank(0) != 4))
    return node.invalid("input of rank 3 or 4 is needed");
  if (failed(checkCaches(node, 2, 3)))
    return failure();
  bool isFlat = node.rank(0) == 3;
  int64_t heads = node.getInt("num_heads", 0),
          dim = node.getInt("rotary_embedding_dim", 0);
  if (isFlat && heads < 1 && (heads < 0 || dim))
    return node.badElement("num_heads", std::nullopt, Twine(heads),
                           "at least 1");
  Rotation rotation = {node.input(2), node.input(3), Value(),
                       node.getInt("interleaved", 0) != 0};
  if (dim) {
    rotation.cos = pinDim(node, rotation.cos, 1, dim / 2, "cos_cache");
    rotation.sin = pinDim(node, rotation.sin, 1, dim / 2, "sin_cache");
  }
  OpFoldResult turned = mulSizes(node, sizeOf(node, rotation.cos, 1),
                                 sizeAttr(node, 2));
  if (auto known = getConstantIntValue(turned); dim && known && *known != dim)
    return node.invalid("rotary_embedding_dim is " + Twine(dim) +
                        ", but the caches rotate " + Twine(*known) +
                        " elements");
  Value x = node.input(0);
  // Rotates whole heads of dynamic width if there is no rotary_embedding_dim.
  bool isOpen = !getConstantIntValue(turned) ||
                typeOf(x).isDynamicDim(node.rank(0) - 1);
  rotation.isWhole = !dim && isOpen;
  rotation.headsAxis = isFlat ? 2 : 1;
  if (rotation.isWhole && (heads || !isFlat)) {
    OpFoldResult width = turned;
    if (isFlat)
      width = mulSizes(node, turned, sizeAttr(node, heads));
    if (failed(requireFit(
            node, nn::SizeRelation::equal, sizeOf(node, x, node.rank(0) - 1),
            width, "heads have {0} elements, but the caches rotate {1}")))
      return failure();
  }
  if (isFlat) {
    auto split = splitRotated(node, x, heads, dim ? OpFoldResult() : turned);
    if (failed(split))
      return failure();
    x = *split;
  }
  OpFoldResult batch = sizeOf(node, x, 0),
               steps = sizeOf(node, x, isFlat ? 1 : 2),
               rows = sizeOf(node, node.input(2), 0);
  if (!node.has(1) || (node.rank(1) != 1 && node.rank(1) != 2))
    return node.invalid("position_ids of rank 1 or 2 are needed");
  if (node.rank(1) == 1) {
    if (failed(isOnly(node, node.input(1), 0, sizeAttr(node, 1),
                      "position_ids")))
      return failure();
    rotation.positions = countFrom(node, node.input(1), batch, steps);
  } else {
    rotation.positions =
        castTo(node, node.input(1), node.builder.getI64Type());
    if (failed(isOnly(node, rotation.positions, 0, batch, "position_ids")) ||
        failed(isOnly(node, rotation.positions, 1, steps, "position_ids")))
      return failure();
  }
  requireEach(node, rotation.positions, "position_ids",
              {rows, /*includesCount=*/false, "positions in cos_cache"});
  auto y = rotate(node, x, rotation);
  if (failed(y))
    return failure();
  return node.replace(
      isFlat ? reshape(node, *y, sizesOf(node, node.input(0))) : *y);
}

void legalize::populateRotary(Legalizers &legalizers) {
  legalizers.add("RotaryEmbedding", legalizeRotaryEmbedding);
  legalizers.add("RotaryEmbedding", legalizeMicrosoftRotaryEmbedding,
                 kMicrosoft);
}
