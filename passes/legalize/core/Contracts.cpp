//===- Contracts.cpp - size checks of expanded operators ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the operand sizes of operators that are expanded to their ONNX
// functions. The function computes the result, but it also accepts invalid
// operands, because its Add and MatMul broadcast. The importer therefore puts a
// node of domain ingot.contract before the function's nodes. This node has the
// operator's name, operands and attributes, but no results. Its legalizer,
// which is here, requires the sizes that the ONNX specification asks for.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/attention/Attention.h"
#include "passes/support/RunChecks.h"

#include "dialects/onnx/Domains.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using nn::SizeRelation;

namespace {

/// Dimension `dim` of input `input`. Messages call the input `name`.
struct InputDim {
  size_t input;
  StringRef name;
  int64_t dim;
};

/// Requires the sizes that an operator specifies. After a failure, further
/// requirements are skipped.
class Contract {
public:
  explicit Contract(Node &node) : node(node) {}

  OpFoldResult size(InputDim place) {
    return sizeOf(node, node.input(place.input), place.dim);
  }
  OpFoldResult number(int64_t value) { return sizeAttr(node, value); }

  /// Requires that input i is left out or has one of these ranks.
  bool hasRank(size_t i, StringRef name, ArrayRef<int64_t> ranks);
  /// Requires a relation of sizes. {0} and {1} in the message stand for a and
  /// b.
  void require(SizeRelation relation, OpFoldResult a, OpFoldResult b,
               const Twine &message);
  void same(InputDim a, InputDim b) {
    require(SizeRelation::equal, size(a), size(b),
            text(a) + " is {0}, but " + text(b) + " is {1}");
  }
  void is(InputDim place, OpFoldResult wanted, const Twine &what = "") {
    require(SizeRelation::equal, size(place), wanted,
            text(place) + " is {0}, not {1}" + what);
  }
  void multiple(InputDim place, OpFoldResult of, const Twine &what) {
    // Accepts 0 as a multiple of 0.
    if (getConstantIntValue(size(place)) == 0 && getConstantIntValue(of) == 0)
      return;
    require(SizeRelation::multipleOf, size(place), of,
            text(place) + " is {0}, no multiple of {1} " + what);
  }
  /// Requires that `place` is 1 or `size`.
  void broadcasts(InputDim place, OpFoldResult size) {
    require(SizeRelation::broadcastTo, this->size(place), size,
            text(place) + " of {0} elements does not broadcast to {1}");
  }

  /// Requires elements of an input to be indices along a dimension, or `other`.
  void positions(size_t i, StringRef name, InputDim place, StringRef counted,
                 std::optional<int64_t> other = std::nullopt,
                 StringRef otherName = "") {
    ok = ok && succeeded(requireElements(node, i, name,
                                         {size(place), /*includesCount=*/false,
                                          counted, other, otherName}));
  }

  LogicalResult result() { return success(ok); }
  LogicalResult finish() { return ok ? node.replace({}) : failure(); }

  Node &node;

private:
  static std::string text(InputDim place) {
    return ("dimension " + Twine(place.dim) + " of " + place.name).str();
  }
  bool ok = true;
};

} // namespace

bool Contract::hasRank(size_t i, StringRef name, ArrayRef<int64_t> ranks) {
  if (!node.has(i) || llvm::is_contained(ranks, node.rank(i)))
    return true;
  std::string wanted;
  for (int64_t rank : ranks)
    wanted += (wanted.empty() ? "" : " or ") + std::to_string(rank);
  if (ok)
    (void)node.invalid(name + " has rank " + Twine(node.rank(i)) +
                       ", but needs " + wanted);
  return ok = false;
}

void Contract::require(SizeRelation relation, OpFoldResult a, OpFoldResult b,
                       const Twine &message) {
  ok = ok && succeeded(requireFit(node, relation, a, b, message));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {

/// Layout of queries, keys and values: (batch, heads, steps, width), or (batch,
/// steps, heads width) if the data have rank 3.
struct HeadLayout {
  int64_t steps;
  OpFoldResult queries, keys;
};

} // namespace

/// Requires the sizes of Q, K and V. Returns nullopt if their ranks are wrong.
static std::optional<HeadLayout> requireHeads(Contract &c, bool mayBeFlat) {
  Node &node = c.node;
  int64_t rank = node.rank(0);
  SmallVector<int64_t> ranks = {4};
  if (mayBeFlat)
    ranks.push_back(3);
  if (!c.hasRank(0, "Q", ranks) || !c.hasRank(1, "K", rank) ||
      !c.hasRank(2, "V", rank))
    return std::nullopt;
  c.same({1, "K", 0}, {0, "Q", 0});
  c.same({2, "V", 0}, {0, "Q", 0});
  int64_t steps = rank - 2;
  c.same({2, "V", steps}, {1, "K", steps});
  if (rank == 4) {
    c.same({2, "V", 1}, {1, "K", 1});
    c.same({1, "K", 3}, {0, "Q", 3});
    OpFoldResult queries = c.size({0, "Q", 1}), keys = c.size({1, "K", 1});
    c.multiple({0, "Q", 1}, keys, "heads of K");
    return HeadLayout{steps, queries, keys};
  }
  int64_t queries = node.getInt("q_num_heads", 0),
          keys = node.getInt("kv_num_heads", 0);
  if (queries < 1 || keys < 1)
    return HeadLayout{steps, {}, {}}; // The caller reports the error.
  c.multiple({0, "Q", 2}, c.number(queries), "(q_num_heads)");
  c.multiple({1, "K", 2}, c.number(keys), "(kv_num_heads)");
  c.multiple({2, "V", 2}, c.number(keys), "(kv_num_heads)");
  c.require(SizeRelation::multipleOf, c.number(queries), c.number(keys),
            "q_num_heads is {0}, no multiple of {1} (kv_num_heads)");
  c.require(SizeRelation::equal,
            mulSizes(node, c.size({0, "Q", 2}), c.number(keys)),
            mulSizes(node, c.size({1, "K", 2}), c.number(queries)),
            "heads of Q and K differ in size: {0} elements against {1}");
  return HeadLayout{steps, c.number(queries), c.number(keys)};
}

static LogicalResult requireAttention(Node &node) {
  Contract c(node);
  std::optional<HeadLayout> heads = requireHeads(c, /*mayBeFlat=*/true);
  if (!heads)
    return c.finish();
  if (!heads->queries)
    return node.invalid("data of 3 dimensions need q_num_heads and "
                        "kv_num_heads of at least 1");
  OpFoldResult total = c.size({1, "K", heads->steps});
  if (node.has(4) && node.has(5)) {
    if (!c.hasRank(4, "past_key", 4) || !c.hasRank(5, "past_value", 4))
      return c.finish();
    c.same({4, "past_key", 0}, {0, "Q", 0});
    c.same({5, "past_value", 0}, {0, "Q", 0});
    c.is({4, "past_key", 1}, heads->keys, " heads of K");
    c.is({5, "past_value", 1}, heads->keys, " heads of V");
    c.same({5, "past_value", 2}, {4, "past_key", 2});
    total = addSizes(node, total, c.size({4, "past_key", 2}));
  }
  if (node.has(6) && c.hasRank(6, "nonpad_kv_seqlen", 1))
    c.same({6, "nonpad_kv_seqlen", 0}, {0, "Q", 0});
  if (!node.has(3))
    return c.finish();
  if (!c.hasRank(3, "attn_mask", {1, 2, 3, 4}))
    return c.finish();
  int64_t rank = node.rank(3);
  auto mask = [&](int64_t fromLast) {
    return InputDim{3, "attn_mask", rank - fromLast};
  };
  c.require(SizeRelation::atLeast, total, c.size(mask(1)),
            "the last dimension of attn_mask is {1}, but there are {0} keys");
  if (rank > 1)
    c.broadcasts(mask(2), c.size({0, "Q", heads->steps}));
  if (rank > 2)
    c.broadcasts(mask(3), heads->queries);
  if (rank > 3)
    c.broadcasts(mask(4), c.size({0, "Q", 0}));
  return c.finish();
}

static LogicalResult requireFlexAttention(Node &node) {
  Contract c(node);
  requireHeads(c, /*mayBeFlat=*/false);
  return c.finish();
}

/// Requires the sizes of RotaryEmbedding. The last dimension of the caches is
/// half the rotated width of a head. Caches have a row per position, or per
/// step of each batch element.
LogicalResult legalize::requireRotaryEmbedding(Node &node) {
  Contract c(node);
  bool hasPositions = node.has(3);
  int64_t cacheRank = hasPositions ? 2 : 3;
  if (!c.hasRank(0, "X", {3, 4}) || !c.hasRank(1, "cos_cache", cacheRank) ||
      !c.hasRank(2, "sin_cache", cacheRank) ||
      !c.hasRank(3, "position_ids", 2))
    return c.result();
  bool isFlat = node.rank(0) == 3;
  int64_t steps = isFlat ? 1 : 2,
          heads = isFlat ? node.getInt("num_heads", 0) : 1;
  if (heads < 1)
    return node.badElement("num_heads", std::nullopt, Twine(heads),
                           "at least 1");
  for (int64_t d = 0; d < cacheRank; ++d)
    c.same({2, "sin_cache", d}, {1, "cos_cache", d});
  OpFoldResult width = c.size({0, "X", node.rank(0) - 1});
  if (isFlat)
    c.multiple({0, "X", 2}, c.number(heads), "(num_heads)");
  OpFoldResult turned =
      mulSizes(node, c.size({1, "cos_cache", cacheRank - 1}), c.number(2));
  if (int64_t dim = node.getInt("rotary_embedding_dim", 0)) {
    c.require(
        SizeRelation::equal, turned, c.number(dim),
        "cos_cache rotates {0} elements of a head, but rotary_embedding_dim "
        "is {1}");
    c.require(SizeRelation::atLeast, width, c.number(dim * heads),
              "heads of {0} elements have fewer than the {1} of "
              "rotary_embedding_dim");
  } else {
    c.require(SizeRelation::equal, mulSizes(node, turned, c.number(heads)),
              width, "cos_cache rotates {0} elements, but X has {1} per step");
  }
  InputDim batch = {hasPositions ? size_t(3) : 1,
                    hasPositions ? "position_ids" : "cos_cache", 0};
  c.same(batch, {0, "X", 0});
  c.same({batch.input, batch.name, 1}, {0, "X", steps});
  if (hasPositions)
    c.positions(3, "position_ids", {1, "cos_cache", 0},
                "positions in cos_cache");
  return c.result();
}

//===----------------------------------------------------------------------===//
// Other operators
//===----------------------------------------------------------------------===//

static LogicalResult requireSwiGLU(Node &node) {
  Contract c(node);
  if (c.hasRank(1, "B", node.rank(0)))
    for (int64_t d = 0; d < node.rank(0); ++d)
      c.same({1, "B", d}, {0, "A", d});
  return c.finish();
}

/// Requires scores (N, C, …) and labels (N, …). Weights are checked where they
/// are looked up.
static LogicalResult requireLoss(Node &node, StringRef labels) {
  Contract c(node);
  if (node.rank(0) < 2)
    return node.invalid("the scores need rank 2 or more, but have rank " +
                        Twine(node.rank(0)));
  if (!c.hasRank(1, "the labels", node.rank(0) - 1) ||
      !c.hasRank(2, "the weights", 1))
    return c.finish();
  for (int64_t d = 0; d < node.rank(1); ++d)
    c.same({1, "the labels", d}, {0, "the scores", d ? d + 1 : 0});
  // Check the labels, because the function looks them up by Gather, which would
  // take the label -1 as the last class.
  std::optional<int64_t> ignored;
  if (node.hasAttr("ignore_index"))
    ignored = node.getInt("ignore_index", 0);
  c.positions(1, labels, {0, "the scores", 1}, "classes", ignored,
              "ignore_index");
  return c.finish();
}

static LogicalResult requireNegativeLogLikelihoodLoss(Node &node) {
  return requireLoss(node, "target");
}

static LogicalResult requireSoftmaxCrossEntropyLoss(Node &node) {
  return requireLoss(node, "labels");
}

/// Requires that a window does not have a negative number of elements. The
/// function would make an empty window of it.
static LogicalResult requireWindow(Node &node) {
  Contract c(node);
  auto size = elementsOf(node, node.input(0));
  if (failed(size))
    return failure();
  if (size->size() != 1)
    return node.badLength("size", size->size(), "1");
  c.require(SizeRelation::atLeast, size->front(), c.number(0),
            "'size' is {0}, but must be at least {1}");
  return c.finish();
}

void legalize::populateContracts(Legalizers &legalizers) {
  constexpr StringRef domain = kContractDomain;
  legalizers.add("Attention", requireAttention, domain);
  for (StringRef window : {"BlackmanWindow", "HammingWindow", "HannWindow"})
    legalizers.add(window, requireWindow, domain);
  legalizers.add("FlexAttention", requireFlexAttention, domain);
  legalizers.add("NegativeLogLikelihoodLoss",
                 requireNegativeLogLikelihoodLoss, domain);
  legalizers.add("SoftmaxCrossEntropyLoss", requireSoftmaxCrossEntropyLoss,
                 domain);
  legalizers.add("SwiGLU", requireSwiGLU, domain);
}
