//===- Transpose.cpp - Transpose, Concat and rearrangements ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/onnx/Limits.h"
#include "passes/legalize/core/Helpers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static LogicalResult legalizeTranspose(Node &node) {
  int64_t rank = node.rank(0);
  SmallVector<int64_t> reversed;
  for (int64_t i = rank; i > 0; --i)
    reversed.push_back(i - 1);
  auto y = node.infer<nn::TransposeOp>(node.input(0),
                                       node.getInts("perm").value_or(reversed));
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeConcat(Node &node) {
  SmallVector<Value> inputs;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.invalid("input " + Twine(i) + " is left out");
    inputs.push_back(node.input(i));
  }
  if (inputs.empty())
    return node.invalid("an input is needed");
  auto axis = node.normalizeAxis(node.getInt("axis", 1), node.rank(0));
  if (failed(axis))
    return failure();
  // Drops empty lists, which ONNX allows beside tensors of any rank.
  if (inputs.size() > 1)
    llvm::erase_if(inputs, [&](Value input) {
      return typeOf(input).getRank() == 1 && typeOf(input).getDimSize(0) == 0 &&
             typeOf(input).getRank() != node.rank(0);
    });
  auto y = node.infer<nn::ConcatOp>(ValueRange(inputs), *axis);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeTile(Node &node) {
  Value x = node.input(0);
  pinInput(node, 1, {node.rank(0)}, "repeats");
  auto repeats = elementsOf(node, node.input(1));
  if (failed(repeats))
    return failure();
  // Opsets 1 to 5 have other operands, but nodes are converted before.
  if (int64_t(repeats->size()) != node.rank(0))
    return node.badLength("repeats", repeats->size(), Twine(node.rank(0)));
  RankedTensorType hint = node.resultHint(0);
  if (hint && hint.getRank() != node.rank(0))
    hint = {};
  Sizes apart, spread, together;
  for (auto [i, repeat] : llvm::enumerate(*repeats)) {
    auto known = getConstantIntValue(repeat);
    if (known && *known < 0)
      return node.badElement("repeats", i, Twine(*known), "at least 0");
    if (known && *known > onnx::kLargestTensor)
      return node.badElement("repeats", i, Twine(*known),
                             "at most " + Twine(onnx::kLargestTensor));
    OpFoldResult size = sizeOf(node, x, i);
    auto knownSize = getConstantIntValue(size);
    if (!known && hint && !hint.isDynamicDim(i) && knownSize &&
        *knownSize > 0 && hint.getDimSize(i) % *knownSize == 0) {
      known = hint.getDimSize(i) / *knownSize;
      repeat = sizeAttr(node, *known);
    }
    if (known != 1) {
      apart.push_back(sizeAttr(node, 1));
      spread.push_back(repeat);
    }
    apart.push_back(size);
    spread.push_back(size);
    together.push_back(mulSizes(node, repeat, size));
  }
  Value y = broadcastTo(node, reshape(node, x, apart), spread);
  return node.replace(reshape(node, y, together));
}

/// Reshapes input 0 to `apart`, transposes it, and reshapes it to `together`.
static LogicalResult rearrange(Node &node, ArrayRef<OpFoldResult> apart,
                               ArrayRef<int64_t> perm,
                               ArrayRef<OpFoldResult> together) {
  Value split = reshape(node, node.input(0), apart);
  return node.replace(
      reshape(node, legalize::transpose(node, split, perm), together));
}

static FailureOr<int64_t> readBlock(Node &node) {
  int64_t block = node.getInt("blocksize", 0);
  if (node.rank(0) != 4)
    return node.invalid("the operand needs rank 4, but has rank " +
                        Twine(node.rank(0)));
  constexpr int64_t kMaxBlock = (1 << 20) - 1;
  if (block < 1 || block > kMaxBlock)
    return node.invalid("blocksize is " + Twine(block));
  return block;
}

static LogicalResult legalizeDepthToSpace(Node &node) {
  auto block = readBlock(node);
  if (failed(block))
    return failure();
  Sizes s = sizesOf(node, node.input(0));
  auto channels = getConstantIntValue(s[1]);
  if (channels && *channels % (*block * *block) != 0)
    return node.invalid("blocksize squared does not divide " +
                        Twine(*channels) + " channels");
  StringRef mode = node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return node.invalid("mode is " + mode);
  OpFoldResult b = sizeAttr(node, *block);
  OpFoldResult depth = divSizes(node, s[1], sizeAttr(node, *block * *block));
  Sizes together = {s[0], depth, mulSizes(node, s[2], b),
                    mulSizes(node, s[3], b)};
  if (mode == "DCR")
    return rearrange(node, {s[0], b, b, depth, s[2], s[3]}, {0, 3, 4, 1, 5, 2},
                     together);
  return rearrange(node, {s[0], depth, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3},
                   together);
}

static LogicalResult legalizeSpaceToDepth(Node &node) {
  auto block = readBlock(node);
  if (failed(block))
    return failure();
  Sizes s = sizesOf(node, node.input(0));
  for (int64_t i : {2, 3})
    if (auto size = getConstantIntValue(s[i]); size && *size % *block != 0)
      return node.invalid("blocksize does not divide " + Twine(*size));
  StringRef mode = node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return node.invalid("mode is " + mode);
  OpFoldResult b = sizeAttr(node, *block);
  OpFoldResult height = divSizes(node, s[2], b),
               width = divSizes(node, s[3], b);
  SmallVector<int64_t> perm = {0, 3, 5, 1, 2, 4};
  if (mode == "CRD")
    perm = {0, 1, 3, 5, 2, 4};
  return rearrange(
      node, {s[0], s[1], height, b, width, b}, perm,
      {s[0], mulSizes(node, s[1], sizeAttr(node, *block * *block)), height,
       width});
}

/// Keeps the upper or lower triangle: column - row >= k, or <= k.
static LogicalResult legalizeTrilu(Node &node) {
  Value x = node.input(0);
  RankedTensorType type = node.type(0);
  if (type.getRank() < 2)
    return node.invalid("the operand needs rank 2 or more");
  Sizes sizes = sizesOf(node, x);
  OpFoldResult one = sizeAttr(node, 1), rows = sizes.end()[-2],
               columns = sizes.back();
  Value row = countUp(node, {rows, one}, 0),
        column = countUp(node, {one, columns}, 1);
  if (node.has(1)) {
    if (node.type(1).getRank() > 1 || !node.type(1).hasStaticShape() ||
        node.type(1).getNumElements() != 1)
      return node.invalid("k needs one element");
    // Clamps k, so that row + k does not overflow. No dimension is that large.
    Type i64 = node.builder.getI64Type();
    Value far = scalar(node, i64, 0x1p48), k = node.input(1);
    k = reshape(node, castTo(node, k, i64), ArrayRef<int64_t>());
    k = binary<nn::MinOp>(node, k, far);
    k = binary<nn::MaxOp>(node, k, scalar(node, i64, -0x1p48));
    row = binary<nn::AddOp>(node, row, k);
  }
  Value keep = node.getInt("upper", 1)
                   ? binary<nn::GreaterOrEqualOp>(node, column, row)
                   : binary<nn::LessOrEqualOp>(node, column, row);
  return node.replace(
      select(node, keep, x, scalar(node, type.getElementType(), 0)));
}

void legalize::populateTranspose(Legalizers &legalizers) {
  legalizers.add("Concat", legalizeConcat);
  legalizers.add("DepthToSpace", legalizeDepthToSpace);
  legalizers.add("SpaceToDepth", legalizeSpaceToDepth);
  legalizers.add("Tile", legalizeTile);
  legalizers.add("Transpose", legalizeTranspose);
  legalizers.add("Trilu", legalizeTrilu);
}
