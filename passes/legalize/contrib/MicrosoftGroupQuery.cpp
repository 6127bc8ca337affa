//===- MicrosoftGroupQuery.cpp - GroupQueryAttention ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes GroupQueryAttention of ONNX Runtime. Several heads of queries share
// one head of keys and values. These query heads are handled as more steps of
// the shared head, so that keys and values are not repeated. The keys and
// values of a batch element are appended to its past. The length of the past is
// data of the run.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/attention/Attention.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static constexpr StringRef kMicrosoft = "com.microsoft";

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

namespace {

struct GroupQuery {
  int64_t heads, groups;
  /// Queries (batch, steps, heads, width), and keys and values (batch, steps,
  /// groups, width).
  Value q, k, v;
  OpFoldResult batch, steps;
  /// Number of keys of the batch element with the longest past.
  OpFoldResult total;
  /// Number of past keys of each batch element, as i64.
  Value past;
};

} // namespace

/// Reports attributes and inputs that are not supported.
static LogicalResult checkAttributes(Node &node) {
  for (StringRef name :
       {"smooth_softmax", "kv_cache_bit_width", "sliding_window_cache"})
    if (node.getInt(name, 0) > 0)
      return node.unsupported(name);
  for (StringRef name : {"k_quant_type", "v_quant_type"})
    if (node.getString(name, "NONE") != "NONE")
      return node.unsupported(name + " " + node.getString(name, ""));
  int64_t window = node.getInt("local_window_size", -1);
  if (window != -1 && (window < 1 || window > nn::kMostElements))
    return node.badElement("local_window_size", std::nullopt, Twine(window),
                           "-1 or " +
                               nn::describeRange({1, nn::kMostElements}));
  if (node.getInt("causal", 1) != 1)
    return node.unsupported("attention that is not causal");
  for (auto [i, name] : {std::pair<size_t, StringRef>(11, "head_sink"),
                         {12, "k_scale"},
                         {13, "v_scale"},
                         {14, "q_norm_weight"},
                         {15, "k_norm_weight"}})
    if (node.has(i))
      return node.unsupported(name);
  return success();
}

static LogicalResult readFactors(Node &node, GroupQuery &g) {
  g.heads = node.getInt("num_heads", 0);
  g.groups = node.getInt("kv_num_heads", 0);
  if (g.heads < 1 || g.groups < 1 || g.heads % g.groups != 0)
    return node.invalid("num_heads is " + Twine(g.heads) +
                        ", no multiple of kv_num_heads " + Twine(g.groups));
  if (!node.has(0) || node.rank(0) != 3 || node.has(1) != node.has(2))
    return node.invalid("a query of rank 3, and key and value or none of them, "
                        "are needed");
  if (!node.has(1)) {
    auto all = splitHeads(node, node.input(0), g.heads + 2 * g.groups, "query");
    if (failed(all))
      return failure();
    g.q = sliceAxis(node, *all, 2, 0, g.heads);
    g.k = sliceAxis(node, *all, 2, g.heads, g.groups);
    g.v = sliceAxis(node, *all, 2, g.heads + g.groups, g.groups);
  } else {
    if (node.rank(1) != 3 || node.rank(2) != 3)
      return node.invalid("key and value need rank 3");
    auto q = splitHeads(node, node.input(0), g.heads, "query"),
         k = splitHeads(node, node.input(1), g.groups, "key"),
         v = splitHeads(node, node.input(2), g.groups, "value");
    if (failed(q) || failed(k) || failed(v))
      return failure();
    g.q = *q;
    g.k = *k;
    g.v = *v;
  }
  g.batch = sizeOf(node, g.q, 0);
  g.steps = sizeOf(node, g.q, 1);
  for (Value x : {g.k, g.v})
    if (failed(isOnly(node, x, 0, g.batch, "key and value")) ||
        failed(isOnly(node, x, 1, g.steps, "key and value")) ||
        failed(isOnly(node, x, 3, sizeOf(node, g.q, 3), "key and value")))
      return failure();
  return success();
}

/// Computes the length of each batch element's past. In the first run, it is 0,
/// because all keys are new. In later runs, it is the number of keys of the
/// batch element minus its new steps.
static LogicalResult readLengths(Node &node, GroupQuery &g,
                                 OpFoldResult capacity) {
  if (!node.has(5) || !node.has(6))
    return node.invalid("seqlens_k and total_sequence_length are needed");
  Type i64 = node.builder.getI64Type();
  if (!node.type(6).hasStaticShape() || node.type(6).getNumElements() != 1)
    return node.invalid("total_sequence_length needs one element");
  auto total = elementsOf(
      node, castTo(node, reshape(node, node.input(6), ArrayRef<int64_t>()),
                   i64));
  if (failed(total))
    return failure();
  g.total = total->front();
  if (failed(requireFit(node, nn::SizeRelation::atLeast, g.total, g.steps,
                        "total_sequence_length is {0}, but there are {1} "
                        "steps")))
    return failure();
  Value lengths = castTo(node, node.input(5), i64);
  if (typeOf(lengths).getRank() == 2 && typeOf(lengths).getDimSize(1) == 1)
    lengths = reshape(node, lengths, {sizeOf(node, lengths, 0)});
  if (typeOf(lengths).getRank() != 1 ||
      failed(isOnly(node, lengths, 0, g.batch, "seqlens_k")))
    return typeOf(lengths).getRank() != 1
               ? node.invalid("seqlens_k of rank 1 is needed")
               : failure();
  Indices i{node.builder, node.loc()};
  Value steps = indexValue(node, g.steps), all = indexValue(node, g.total);
  Value isFirst = i.equal(steps, all);
  g.past = generate(
      node, i64, {g.batch},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        Value length = arith::IndexCastOp::create(
            b, loc, b.getIndexType(),
            tensor::ExtractOp::create(b, loc, lengths, at));
        Value past = i.sub(i.add(length, i.n(1)), steps);
        return arith::IndexCastOp::create(b, loc, i64,
                                          i.choose(isFirst, i.n(0), past));
      });
  // Limits the past by the capacity of the input and by the number of keys.
  OpFoldResult room =
      minSizes(node, capacity, subSizes(node, g.total, g.steps));
  requireEach(node, g.past, "the past that seqlens_k and the steps leave",
              {room, /*includesCount=*/true, "past keys"});
  return success();
}

/// Concatenates `past` and the new x, which is (batch, steps, heads, width), to
/// (batch, heads, keys, width). Fills the rest with zeros.
static Value join(Node &node, const GroupQuery &g, Value past, Value x,
                  OpFoldResult keys) {
  Sizes sizes = {g.batch, sizeOf(node, x, 2), keys, sizeOf(node, x, 3)};
  Type type = typeOf(x).getElementType();
  Value steps = indexValue(node, g.steps);
  auto orElse = [](OpBuilder &b, Location loc, Value condition, auto one,
                   auto other) -> Value {
    auto chosen = scf::IfOp::create(
        b, loc, condition,
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, one(b, loc));
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, other(b, loc));
        });
    return chosen.getResult(0);
  };
  return generate(
      node, type, sizes,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        Value length = arith::IndexCastOp::create(
            b, loc, b.getIndexType(),
            tensor::ExtractOp::create(b, loc, g.past, at[0]));
        Value from = i.sub(at[2], length);
        auto zero = [&](OpBuilder &b, Location loc) -> Value {
          return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
        };
        auto added = [&](OpBuilder &b, Location loc) -> Value {
          return orElse(
              b, loc, Indices{b, loc}.less(from, steps),
              [&](OpBuilder &b, Location loc) -> Value {
                return tensor::ExtractOp::create(
                    b, loc, x, ValueRange{at[0], from, at[1], at[3]});
              },
              zero);
        };
        if (!past)
          return added(b, loc);
        return orElse(
            b, loc, i.less(at[2], length),
            [&](OpBuilder &b, Location loc) -> Value {
              return tensor::ExtractOp::create(b, loc, past, at);
            },
            added);
      });
}

/// Returns the causal mask. A step sees its own key and earlier keys. If
/// `window` is positive, a step sees only the last `window` of these keys.
static Value maskOf(Node &node, const GroupQuery &g, int64_t window,
                    int64_t repeat) {
  Value steps = indexValue(node, g.steps);
  OpFoldResult rows = mulSizes(node, g.steps, sizeAttr(node, repeat));
  return generate(
      node, node.builder.getF32Type(),
      {g.batch, sizeAttr(node, 1), rows, g.total},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices i{b, loc};
        auto number = [&](double value) -> Value {
          return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
        };
        Value length = arith::IndexCastOp::create(
            b, loc, b.getIndexType(),
            tensor::ExtractOp::create(b, loc, g.past, at[0]));
        Value last = i.add(length, i.rem(at[2], steps));
        Value isHidden = i.less(last, at[3]);
        if (window > 0)
          isHidden = arith::OrIOp::create(
              b, loc, isHidden, i.less(i.add(at[3], i.n(window - 1)), last));
        return i.choose(isHidden,
                        number(std::numeric_limits<float>::lowest()),
                        number(0));
      });
}

/// Reshapes (batch, heads, steps, width) to (batch, groups, repeat steps,
/// width), where `repeat` heads share a group.
static Value stack(Node &node, Value x, int64_t repeat) {
  if (repeat == 1)
    return x;
  Sizes sizes = sizesOf(node, x);
  sizes[1] = divSizes(node, sizes[1], sizeAttr(node, repeat));
  sizes[2] = mulSizes(node, sizes[2], sizeAttr(node, repeat));
  return reshape(node, x, sizes);
}

/// Returns attention_bias, (batch or 1, heads or 1, steps, keys), in the mask's
/// layout.
static FailureOr<Value> readBias(Node &node, const GroupQuery &g,
                                 int64_t repeat) {
  if (!node.has(10))
    return Value();
  if (node.rank(10) != 4)
    return node.invalid("attention_bias has rank " + Twine(node.rank(10)) +
                        ", but needs 4");
  Value bias = castTo(node, node.input(10), node.builder.getF32Type());
  if (failed(isOnly(node, bias, 2, g.steps, "attention_bias")) ||
      failed(isOnly(node, bias, 3, g.total, "attention_bias")))
    return failure();
  int64_t heads = typeOf(bias).getDimSize(1);
  if (heads != 1 && heads != g.heads)
    return node.invalid("attention_bias has " + Twine(heads) +
                        " heads, but must have 1 or " + Twine(g.heads));
  if (heads == 1 && repeat > 1) {
    Sizes sizes = sizesOf(node, bias);
    sizes[1] = sizeAttr(node, repeat);
    bias = broadcastTo(node, bias, sizes);
  }
  return stack(node, bias, repeat);
}

static LogicalResult legalizeGroupQueryAttention(Node &node) {
  GroupQuery g;
  if (failed(checkAttributes(node)) || failed(readFactors(node, g)))
    return failure();
  if (node.has(3) != node.has(4))
    return node.invalid("past_key and past_value are needed together");
  OpFoldResult capacity = sizeAttr(node, 0);
  for (size_t i : {3, 4}) {
    if (!node.has(i))
      continue;
    StringRef name = i == 3 ? "past_key" : "past_value";
    if (node.rank(i) != 4)
      return node.invalid(name + " has rank " + Twine(node.rank(i)) +
                          ", but needs 4");
    Value past = node.input(i);
    if (i == 3)
      capacity = sizeOf(node, past, 2);
    if (failed(isOnly(node, past, 0, g.batch, name)) ||
        failed(isOnly(node, past, 1, sizeAttr(node, g.groups), name)) ||
        failed(isOnly(node, past, 2, capacity, name)) ||
        failed(isOnly(node, past, 3, sizeOf(node, g.q, 3), name)))
      return failure();
  }
  if (failed(readLengths(node, g, capacity)))
    return failure();
  if (node.getInt("do_rotary", 0)) {
    if (failed(checkCaches(node, 7, 8)))
      return failure();
    Value positions = countFrom(node, g.past, g.batch, g.steps);
    if (node.has(9)) {
      positions = castTo(node, node.input(9), node.builder.getI64Type());
      if (node.rank(9) != 2)
        return node.invalid("position_ids of rank 2 are needed");
      if (failed(isOnly(node, positions, 0, g.batch, "position_ids")) ||
          failed(isOnly(node, positions, 1, g.steps, "position_ids")))
        return failure();
    }
    requireEach(node, positions, "a position",
                {sizeOf(node, node.input(7), 0), /*includesCount=*/false,
                 "positions in cos_cache"});
    Rotation rotation = {node.input(7), node.input(8), positions,
                         node.getInt("rotary_interleaved", 0) != 0};
    auto q = rotate(node, g.q, rotation), k = rotate(node, g.k, rotation);
    if (failed(q) || failed(k))
      return failure();
    g.q = *q;
    g.k = *k;
  }
  OpFoldResult keys = maxSizes(node, capacity, g.total);
  Value presentKey = join(node, g, node.input(3), g.k, keys),
        presentValue = join(node, g, node.input(4), g.v, keys);
  auto used = [&](Value present) {
    Sizes sizes = sizesOf(node, present);
    if (getConstantIntValue(capacity) == 0)
      return present;
    sizes[2] = g.total;
    return takePart(node, present, Sizes(4, sizeAttr(node, 0)), sizes);
  };
  int64_t repeat = g.heads / g.groups;
  auto bias = readBias(node, g, repeat);
  if (failed(bias))
    return failure();
  auto mask = addMasks(
      node, maskOf(node, g, node.getInt("local_window_size", -1), repeat),
      *bias);
  if (failed(mask))
    return failure();
  Value q = stack(node, swapHeads(node, g.q), repeat);
  auto y = attend(node, {q, used(presentKey), used(presentValue), *mask,
                         scaleOf(node, g.q), node.getFloat("softcap", 0)});
  if (failed(y))
    return failure();
  Sizes sizes = sizesOf(node, swapHeads(node, g.q));
  return node.replace({mergeHeads(node, reshape(node, *y, sizes)), presentKey,
                       presentValue});
}

void legalize::populateMicrosoftGroupQuery(Legalizers &legalizers) {
  legalizers.add("GroupQueryAttention", legalizeGroupQueryAttention,
                 kMicrosoft);
}
