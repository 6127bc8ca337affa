//===- MicrosoftNorms.cpp - normalizations of ONNX Runtime ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

static constexpr StringRef kMicrosoft = "com.microsoft";

/// Requires input i to be a vector with as many elements as the last dimension
/// of `x`.
static LogicalResult checkVector(Node &node, size_t i, StringRef name,
                                 Value x) {
  if (!node.has(i))
    return success();
  int64_t rank = typeOf(x).getRank();
  if (rank < 1 || node.rank(i) != 1)
    return node.invalid(name + " of rank 1 is needed");
  return requireFit(node, nn::SizeRelation::equal,
                    sizeOf(node, node.input(i), 0), sizeOf(node, x, rank - 1),
                    name + " has {0} elements, but the last dimension of the "
                           "data {1}");
}

static LogicalResult checkData(Node &node, size_t i, StringRef name) {
  if (!node.has(i))
    return node.invalid(name + " is missing");
  if (!isa<FloatType>(node.elementType(i)))
    return node.invalid(name + " is not of floats");
  return success();
}

static llvm::APFloat epsilonOf(Node &node, float otherwise) {
  return llvm::APFloat(node.getFloat("epsilon", otherwise));
}

/// Reports uses of outputs that only training needs.
static LogicalResult checkUnused(Node &node, ArrayRef<size_t> outputs) {
  for (size_t i : outputs)
    if (node.isUsed(i))
      return node.unsupported("output " + Twine(i) +
                              ", which only training reads");
  return success();
}

/// Computes input + skip + bias. Skip and bias broadcast to the input.
static FailureOr<Value> addSkip(Node &node, size_t bias) {
  if (failed(checkData(node, 0, "input")) ||
      failed(checkData(node, 1, "skip")) ||
      failed(checkData(node, 2, "gamma")))
    return failure();
  Value x = node.input(0), skip = node.input(1);
  int64_t rank = node.rank(0), lead = rank - node.rank(1);
  if (rank < 2 || lead < 0)
    return node.invalid("input of rank 2 or more, and skip of no more, are "
                        "needed");
  for (int64_t d = lead; d < rank; ++d)
    if (failed(requireFit(node, nn::SizeRelation::broadcastTo,
                          sizeOf(node, skip, d - lead), sizeOf(node, x, d),
                          "dimension " + Twine(d - lead) +
                              " of skip of {0} elements does not broadcast to "
                              "{1}")))
      return failure();
  auto sum = node.infer<nn::AddOp>(x, skip);
  if (failed(sum) || !node.has(bias))
    return sum;
  if (failed(checkVector(node, bias, "bias", x)))
    return failure();
  return node.infer<nn::AddOp>(*sum, node.input(bias));
}

static LogicalResult legalizeSkipLayerNorm(Node &node) {
  auto sum = addSkip(node, /*bias=*/4);
  if (failed(sum) || failed(checkVector(node, 2, "gamma", *sum)) ||
      failed(checkVector(node, 3, "beta", *sum)) ||
      failed(checkUnused(node, {1, 2})))
    return failure();
  Value y = node.make<nn::LayerNormOp>(*sum, node.input(2), node.input(3),
                                       typeOf(*sum).getRank() - 1,
                                       epsilonOf(node, 1e-12f));
  return node.replace({y, Value(), Value(), *sum});
}

static LogicalResult legalizeSkipSimplifiedLayerNorm(Node &node) {
  auto sum = addSkip(node, /*bias=*/3);
  if (failed(sum) || failed(checkVector(node, 2, "gamma", *sum)) ||
      failed(checkUnused(node, {1, 2})))
    return failure();
  Value y = node.make<nn::RMSNormOp>(*sum, node.input(2),
                                     typeOf(*sum).getRank() - 1,
                                     epsilonOf(node, 1e-12f));
  return node.replace({y, Value(), Value(), *sum});
}

/// Checks data and scale of a normalization over the dimensions from `axis` on.
/// The scale has these dimensions.
static FailureOr<int64_t> checkFromAxis(Node &node) {
  if (failed(checkData(node, 0, "X")) || failed(checkData(node, 1, "scale")))
    return failure();
  auto axis = node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis))
    return failure();
  int64_t inner = node.rank(0) - *axis;
  for (size_t i : {1, 2})
    for (int64_t d = 0; node.has(i) && d < node.rank(i); ++d) {
      if (node.rank(i) != inner)
        return node.invalid("input " + Twine(i) + " has rank " +
                            Twine(node.rank(i)) + ", but needs " +
                            Twine(inner));
      if (failed(requireFit(node, nn::SizeRelation::equal,
                            sizeOf(node, node.input(i), d),
                            sizeOf(node, node.input(0), *axis + d),
                            "dimension " + Twine(d) + " of input " + Twine(i) +
                                " is {0}, but that of the data {1}")))
        return failure();
    }
  return axis;
}

static LogicalResult legalizeSimplifiedLayerNorm(Node &node) {
  auto axis = checkFromAxis(node);
  if (failed(axis) || failed(checkUnused(node, {1})))
    return failure();
  return node.replace(node.make<nn::RMSNormOp>(
      node.input(0), node.input(1), *axis, epsilonOf(node, 1e-5f)));
}

/// Legalizes LayerNormalization that ONNX Runtime's optimizer writes into
/// models of opsets without this operator.
static LogicalResult legalizeLayerNorm(Node &node) {
  auto axis = checkFromAxis(node);
  if (failed(axis) || failed(checkUnused(node, {1, 2})))
    return failure();
  return node.replace(node.make<nn::LayerNormOp>(
      node.input(0), node.input(1), node.input(2), *axis,
      epsilonOf(node, 1e-5f)));
}

//===----------------------------------------------------------------------===//
// EmbedLayerNormalization
//===----------------------------------------------------------------------===//

/// Gathers rows of input `table` by the ids in input `ids`.
static FailureOr<Value> lookUp(Node &node, size_t table, size_t ids,
                               StringRef name) {
  if (failed(checkData(node, table, name)))
    return failure();
  if (node.rank(table) != 2 || node.rank(ids) != 2 ||
      !isa<IntegerType>(node.elementType(ids)))
    return node.invalid(name + " needs rank 2, and ids that are integers of "
                               "rank 2");
  if (failed(requireElements(
          node, ids, "input " + std::to_string(ids),
          {sizeOf(node, node.input(table), 0), /*includesCount=*/false,
           "rows of that embedding"})))
    return failure();
  return node.infer<nn::GatherOp>(node.input(table), node.input(ids),
                                  /*axis=*/0);
}

/// Takes the first rows of the position embedding, one per step.
static FailureOr<Value> firstPositions(Node &node) {
  if (failed(checkData(node, 3, "position_embedding")))
    return failure();
  if (node.rank(3) != 2)
    return node.invalid("position_embedding of rank 2 is needed");
  Value table = node.input(3);
  OpFoldResult steps = sizeOf(node, node.input(0), 1);
  if (failed(requireFit(node, nn::SizeRelation::atLeast,
                        sizeOf(node, table, 0), steps,
                        "position_embedding has {0} rows, but there are {1} "
                        "steps")))
    return failure();
  Sizes sizes = {steps, sizeOf(node, table, 1)};
  return takePart(node, table, Sizes(2, sizeAttr(node, 0)), sizes);
}

/// Counts the ones of each row of a mask (batch, steps). Without a mask, the
/// counts are 0.
static Value countMask(Node &node) {
  Type i32 = node.builder.getI32Type();
  if (!node.has(7))
    return filled(node, i32, 0, {sizeOf(node, node.input(0), 0)});
  Value isOne = binary<nn::EqualOp>(node, castTo(node, node.input(7), i32),
                                    scalar(node, i32, 1));
  return node.create<nn::ReduceOp>(castTo(node, isOne, i32),
                                   nn::ReduceKind::sum, ArrayRef<int64_t>{1},
                                   /*keep_dims=*/false);
}

static LogicalResult legalizeEmbedLayerNorm(Node &node) {
  if (!node.has(0) || node.rank(0) != 2)
    return node.invalid("input_ids of rank 2 are needed");
  if (node.isUsed(1) && node.getInt("mask_index_type", 0) != 0)
    return node.unsupported("mask_index_type " +
                            Twine(node.getInt("mask_index_type", 0)));
  if (node.isUsed(1) && node.has(7) && node.rank(7) != 2)
    return node.invalid("a mask of rank 2 is needed");
  auto sum = lookUp(node, 2, 0, "word_embedding");
  auto positions = node.has(8) ? lookUp(node, 3, 8, "position_embedding")
                               : firstPositions(node);
  if (failed(sum) || failed(positions))
    return failure();
  sum = node.infer<nn::AddOp>(*sum, *positions);
  if (node.has(1) && succeeded(sum)) {
    auto segments = lookUp(node, 4, 1, "segment_embedding");
    if (failed(segments))
      return failure();
    sum = node.infer<nn::AddOp>(*sum, *segments);
  }
  if (failed(sum) || failed(checkData(node, 5, "gamma")) ||
      failed(checkData(node, 6, "beta")) ||
      failed(checkVector(node, 5, "gamma", *sum)) ||
      failed(checkVector(node, 6, "beta", *sum)))
    return failure();
  Value y = node.make<nn::LayerNormOp>(*sum, node.input(5), node.input(6),
                                       /*axis=*/2, epsilonOf(node, 1e-12f));
  return node.replace(
      {y, node.isUsed(1) ? countMask(node) : Value(), *sum});
}

void legalize::populateMicrosoftNorms(Legalizers &legalizers) {
  auto add = [&](StringRef name, Legalizer legalizer) {
    legalizers.add(name, legalizer, kMicrosoft);
  };
  add("EmbedLayerNormalization", legalizeEmbedLayerNorm);
  add("LayerNormalization", legalizeLayerNorm);
  add("SimplifiedLayerNormalization", legalizeSimplifiedLayerNorm);
  add("SkipLayerNormalization", legalizeSkipLayerNorm);
  add("SkipSimplifiedLayerNormalization", legalizeSkipSimplifiedLayerNorm);
}
