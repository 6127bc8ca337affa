//===- MicrosoftAttention.cpp - Attention, MultiHeadAttention ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes Attention and MultiHeadAttention of ONNX Runtime. Both become
// matrix products and a softmax, as ONNX models write attention. Later passes
// fuse these into one kernel.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/attention/Attention.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static constexpr StringRef kMicrosoft = "com.microsoft";

/// Sizes that masks are checked against.
namespace {
struct Scores {
  OpFoldResult batch, steps, keys;
};
} // namespace

/// Returns a mask to add to scores: 0 where `isSeen` holds, else `filter`.
static Value maskedWhere(Node &node, Value isSeen, double filter) {
  Type type = node.builder.getF32Type();
  return select(node, isSeen, scalar(node, type, 0),
                scalar(node, type, filter));
}

/// Returns a mask from the list in input i. The first half of the list has the
/// number of visible keys of each batch element. The optional second half has
/// the first visible key of each batch element.
static FailureOr<Value> maskByLengths(Node &node, size_t i, Scores scores,
                                      double filter) {
  Value list = castTo(node, node.input(i), node.builder.getI64Type());
  OpFoldResult count = sizeOf(node, list, 0);
  auto known = getConstantIntValue(count),
       batch = getConstantIntValue(scores.batch);
  bool hasStarts = known && batch && *known == 2 * *batch && *batch;
  if (!hasStarts && known && batch && *known != *batch)
    return node.unsupported("a mask of " + Twine(*known) +
                            " elements for a batch of " + Twine(*batch));
  if (!hasStarts && failed(isOnly(node, list, 0, scores.batch, "the mask")))
    return failure();
  Value keys = countUp(node, {sizeAttr(node, 1), sizeAttr(node, 1),
                              sizeAttr(node, 1), scores.keys},
                       3);
  auto part = [&](int64_t from) {
    Value taken = hasStarts ? sliceAxis(node, list, 0, from, *batch) : list;
    return unsqueeze(node, taken, {1, 2, 3});
  };
  Value isSeen = binary<nn::LessOp>(node, keys, part(0));
  if (hasStarts)
    isSeen = binary<nn::AndOp>(
        node, isSeen,
        binary<nn::GreaterOrEqualOp>(node, keys, part(*batch)));
  return maskedWhere(node, isSeen, filter);
}

/// Returns the mask to add to the scores for input i, a mask of integers.
/// Returns null if the input is left out.
static FailureOr<Value> readMask(Node &node, size_t i, Scores scores) {
  if (!node.has(i))
    return Value();
  if (!isa<IntegerType>(node.elementType(i)))
    return node.invalid("the mask is not of integers");
  double filter = node.getFloat("mask_filter_value", -10000);
  int64_t rank = node.rank(i);
  if (rank == 1)
    return maskByLengths(node, i, scores, filter);
  if (rank != 2 && rank != 3)
    return node.unsupported("a mask of rank " + Twine(rank));
  Value mask = node.input(i);
  if (failed(isOnly(node, mask, 0, scores.batch, "the mask")) ||
      failed(isOnly(node, mask, rank - 1, scores.keys, "the mask")) ||
      (rank == 3 && failed(isOnly(node, mask, 1, scores.steps, "the mask"))))
    return failure();
  Value number = castTo(node, mask, node.builder.getI64Type());
  Value isSeen = binary<nn::GreaterOp>(
      node, number, scalar(node, node.builder.getI64Type(), 0));
  return unsqueeze(node, maskedWhere(node, isSeen, filter),
                   rank == 2 ? ArrayRef<int64_t>{1, 2} : ArrayRef<int64_t>{1});
}

/// Returns the sum of all masks: of integers, of floats, and the causal mask.
static FailureOr<Value> readMasks(Node &node, size_t ints, size_t floats,
                                  Scores scores, OpFoldResult past) {
  auto mask = readMask(node, ints, scores);
  if (failed(mask))
    return failure();
  if (node.getInt("unidirectional", 0))
    mask = addMasks(node, *mask,
                    causalMask(node, scores.steps, scores.keys, past));
  if (failed(mask) || !node.has(floats))
    return mask;
  if (node.rank(floats) != 4)
    return node.invalid("attention_bias has rank " + Twine(node.rank(floats)) +
                        ", but needs 4");
  return addMasks(node, *mask,
                  castTo(node, node.input(floats), node.builder.getF32Type()));
}

static FailureOr<int64_t> readHeads(Node &node) {
  int64_t heads = node.getInt("num_heads", 0);
  if (heads < 1)
    return node.badElement("num_heads", std::nullopt, Twine(heads),
                           "at least 1");
  return heads;
}

/// Concatenates the state of an earlier run and the new x, both (batch, heads,
/// steps, width).
static FailureOr<Value> appendTo(Node &node, Value past, Value x,
                                 StringRef name) {
  if (!past)
    return x;
  if (typeOf(past).getRank() != 4)
    return node.invalid(name + " has rank " + Twine(typeOf(past).getRank()) +
                        ", but needs 4");
  for (int64_t d : {0, 1, 3})
    if (failed(isOnly(node, past, d, sizeOf(node, x, d), name)))
      return failure();
  return node.infer<nn::ConcatOp>(ValueRange{past, x}, /*axis=*/2);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Returns the widths of queries, keys and values. In the weights, their
/// columns are next to each other.
static FailureOr<SmallVector<int64_t>> readWidths(Node &node) {
  int64_t all = node.shape(1)[1];
  if (ShapedType::isDynamic(all))
    return node.unsupported("weights of open width; fix it with --shape");
  SmallVector<int64_t> widths = node.getInts("qkv_hidden_sizes")
                                    .value_or(SmallVector<int64_t>());
  if (widths.empty()) {
    if (all % 3 != 0)
      return node.invalid("the weights have " + Twine(all) +
                          " columns, which do not divide by 3");
    widths.assign(3, all / 3);
  }
  if (widths.size() != 3)
    return node.badLength("qkv_hidden_sizes", widths.size(), "3");
  int64_t sum = 0;
  for (auto [i, width] : llvm::enumerate(widths)) {
    if (width < 1 || width > all)
      return node.badElement("qkv_hidden_sizes", i, Twine(width),
                             nn::describeRange({1, all}));
    sum += width;
  }
  if (sum != all)
    return node.invalid("'qkv_hidden_sizes' adds up to " + Twine(sum) +
                        ", but the weights have " + Twine(all) + " columns");
  return widths;
}

static LogicalResult legalizeAttention(Node &node) {
  for (StringRef name : {"do_rotary", "past_present_share_buffer"})
    if (node.getInt(name, 0))
      return node.unsupported(name);
  if (node.has(6))
    return node.unsupported("past_sequence_length");
  if (!node.has(0) || !node.has(1) || node.rank(0) != 3 || node.rank(1) != 2)
    return node.invalid("input of rank 3 and weights of rank 2 are needed");
  auto heads = readHeads(node);
  if (failed(heads))
    return failure();
  auto widths = readWidths(node);
  if (failed(widths))
    return failure();
  Value x = node.input(0);
  if (node.has(2) &&
      (node.rank(2) != 1 || node.shape(2)[0] != node.shape(1)[1]))
    return node.invalid("the bias does not have one element a column of the "
                        "weights");
  SmallVector<Value> parts;
  int64_t start = 0;
  for (int64_t width : *widths) {
    Value weights = sliceAxis(node, node.input(1), 1, start, width);
    Value bias = node.has(2) ? sliceAxis(node, node.input(2), 0, start, width)
                             : Value();
    auto part = node.infer<nn::MatMulOp>(x, weights, bias, false, false);
    if (failed(part))
      return failure();
    auto split = splitHeads(node, *part, *heads, "the weights' part");
    if (failed(split))
      return failure();
    parts.push_back(swapHeads(node, *split));
    start += width;
  }
  OpFoldResult past = sizeAttr(node, 0);
  if (node.has(4)) {
    if (node.rank(4) != 5 || node.shape(4)[0] != 2)
      return node.invalid("past needs rank 5, and keys and values in its first "
                          "dimension");
    if (widths->back() != (*widths)[1])
      return node.invalid("past needs keys and values of one width");
    past = sizeOf(node, node.input(4), 3);
    for (int64_t i : {0, 1}) {
      Sizes sizes = sizesOf(node, node.input(4));
      sizes.erase(sizes.begin());
      Value one = reshape(node, sliceAxis(node, node.input(4), 0, i, 1), sizes);
      auto joined = appendTo(node, one, parts[1 + i], "past");
      if (failed(joined))
        return failure();
      parts[1 + i] = *joined;
    }
  }
  Value k = parts[1], v = parts[2];
  Scores scores = {sizeOf(node, x, 0), sizeOf(node, x, 1), sizeOf(node, k, 2)};
  auto mask = readMasks(node, 3, 5, scores, past);
  if (failed(mask))
    return failure();
  auto y = attend(node, {parts[0], k, v, *mask, scaleOf(node, parts[0])});
  if (failed(y))
    return failure();
  Value present;
  if (node.isUsed(1)) {
    if (typeOf(k).getShape().back() != typeOf(v).getShape().back())
      return node.invalid("present needs keys and values of one width");
    present = concat(node, {unsqueeze(node, k, {0}), unsqueeze(node, v, {0})},
                     0);
  }
  return node.replace({mergeHeads(node, *y), present});
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

/// Returns part i of a packed tensor (batch, steps, heads, parts, width).
static Value unpack(Node &node, Value packed, int64_t i) {
  Sizes sizes = sizesOf(node, packed);
  sizes.erase(sizes.begin() + 3);
  return reshape(node, sliceAxis(node, packed, 3, i, 1), sizes);
}

/// Returns queries, keys and values as (batch, heads, steps, width), with the
/// bias added.
static FailureOr<SmallVector<Value>> readFactors(Node &node, int64_t heads) {
  if (!node.has(0))
    return node.invalid("a query is needed");
  bool isPacked = node.rank(0) == 5;
  if (isPacked ? node.has(1) || node.has(2) : !node.has(1))
    return node.invalid(isPacked ? "packed queries have their keys and values"
                                 : "a key is needed");
  bool isPair = !isPacked && node.rank(1) == 5;
  if (!isPacked && (isPair ? node.has(2) : !node.has(2)))
    return node.invalid(isPair ? "packed keys have their values"
                               : "a value is needed");
  SmallVector<Value> inside; // (batch, steps, heads, width)
  for (size_t i = 0; i < 3; ++i) {
    size_t from = isPacked ? 0 : isPair && i ? 1 : i;
    int64_t rank = node.rank(from), parts = isPacked ? 3 : 2;
    Value x = node.input(from);
    StringRef name = i == 0 ? "query" : i == 1 ? "key" : "value";
    if (rank == 5) {
      if (node.shape(from)[2] != heads || node.shape(from)[3] != parts)
        return node.invalid("packed operands need " + Twine(heads) +
                            " heads of " + Twine(parts) + " parts");
      inside.push_back(unpack(node, x, isPacked ? i : i - 1));
    } else if (rank == 4 && i) {
      inside.push_back(swapHeads(node, x));
    } else if (rank == 3) {
      auto split = splitHeads(node, x, heads, name);
      if (failed(split))
        return failure();
      inside.push_back(*split);
    } else {
      return node.invalid(name + " has rank " + Twine(rank));
    }
  }
  int64_t start = 0;
  for (Value &x : inside) {
    if (node.has(3)) {
      int64_t width = heads * typeOf(x).getShape().back();
      if (node.rank(3) != 1 || ShapedType::isDynamic(width) ||
          ShapedType::isDynamic(node.shape(3)[0]) ||
          start + width > node.shape(3)[0])
        return node.invalid("the bias does not have one element a column of "
                            "query, key and value");
      Value part = sliceAxis(node, node.input(3), 0, start, width);
      Value bias = reshape(node, part, {heads, width / heads});
      auto sum = node.infer<nn::AddOp>(x, bias);
      if (failed(sum))
        return failure();
      x = *sum;
      start += width;
    }
    x = swapHeads(node, x);
  }
  return inside;
}

static LogicalResult legalizeMultiHeadAttention(Node &node) {
  if (node.has(8) || node.has(9))
    return node.unsupported(
        "past_sequence_length and cache_indirection, which only decoders of "
        "one step read");
  auto heads = readHeads(node);
  if (failed(heads))
    return failure();
  auto factors = readFactors(node, *heads);
  if (failed(factors))
    return failure();
  Value q = (*factors)[0], k = (*factors)[1], v = (*factors)[2];
  OpFoldResult past = sizeAttr(node, 0);
  if (node.has(6) != node.has(7))
    return node.invalid("past_key and past_value are needed together");
  if (node.has(6) && node.rank(6) == 4)
    past = sizeOf(node, node.input(6), 2);
  auto keys = appendTo(node, node.input(6), k, "past_key"),
       values = appendTo(node, node.input(7), v, "past_value");
  if (failed(keys) || failed(values))
    return failure();
  Scores scores = {sizeOf(node, q, 0), sizeOf(node, q, 2),
                   sizeOf(node, *keys, 2)};
  for (auto [d, x] : {std::pair<int64_t, Value>(0, *keys), {0, *values},
                      {1, *keys}, {1, *values}})
    if (failed(isOnly(node, x, d, sizeOf(node, q, d), "keys and values")))
      return failure();
  auto mask = readMasks(node, 4, 5, scores, past);
  if (failed(mask))
    return failure();
  auto y = attend(node, {q, *keys, *values, *mask, scaleOf(node, q)});
  return failed(y) ? failure()
                   : node.replace({mergeHeads(node, *y), *keys, *values});
}

void legalize::populateMicrosoftAttention(Legalizers &legalizers) {
  legalizers.add("Attention", legalizeAttention, kMicrosoft);
  legalizers.add("MultiHeadAttention", legalizeMultiHeadAttention, kMicrosoft);
}
