//===- Normalization.cpp - softmax and normalizations ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using nn::ReduceKind;

static APFloat f32(Node &node, StringRef name, float otherwise) {
  return APFloat(node.getFloat(name, otherwise));
}

static Value mean(Node &node, Value x, ArrayRef<int64_t> axes) {
  return node.make<nn::ReduceOp>(x, ReduceKind::mean, axes, /*keep_dims=*/true);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Returns the product of the sizes, dynamic if one size is.
static int64_t product(ArrayRef<int64_t> sizes) {
  return llvm::any_of(sizes, ShapedType::isDynamic)
             ? ShapedType::kDynamic
             : ShapedType::getNumElements(sizes);
}

/// Legalizes Softmax. Up to opset 12, it is over all dimensions from the axis
/// on.
template <bool log> static LogicalResult legalizeSoftmax(Node &node) {
  bool flattens = node.opset < 13;
  RankedTensorType type = node.type(0);
  int64_t rank = type.getRank();
  auto axis = node.normalizeAxis(node.getInt("axis", flattens ? 1 : -1), rank);
  if (failed(axis))
    return failure();
  Value x = node.input(0);
  if (!flattens || *axis == rank - 1)
    return node.replace(node.make<nn::SoftmaxOp>(x, *axis, log));
  int64_t outer = product(type.getShape().take_front(*axis));
  int64_t inner = product(type.getShape().drop_front(*axis));
  if (type.getNumDynamicDims() > 1 || ShapedType::isDynamic(inner))
    return node.unsupported(
        "a dynamic dimension in this form; fix it with --shape");
  Value flat = node.make<nn::ReshapeOp>(type.clone({outer, inner}), x);
  Value y = node.make<nn::SoftmaxOp>(flat, /*axis=*/1, log);
  return node.replace(node.make<nn::ReshapeOp>(type, y));
}

//===----------------------------------------------------------------------===//
// Normalizations over trailing dimensions
//===----------------------------------------------------------------------===//

/// Checks that scale and bias broadcast to the data.
static LogicalResult checkBroadcasts(Node &node, size_t i) {
  if (!node.has(i))
    return success();
  auto shape = nn::broadcastShapes({node.shape(0), node.shape(i)});
  if (!shape || shape->size() != size_t(node.rank(0)))
    return node.invalid("input " + Twine(i) +
                        " does not broadcast to the data");
  for (auto [all, data] : llvm::zip_equal(*shape, node.shape(0)))
    if (!ShapedType::isDynamic(data) && !ShapedType::isDynamic(all) &&
        all != data)
      return node.invalid("input " + Twine(i) +
                          " does not broadcast to the data");
  // Requires that the data do not broadcast.
  int64_t rank = node.rank(0);
  SmallVector<int64_t> least(rank, ShapedType::kDynamic);
  for (auto [d, size] : llvm::enumerate(node.shape(i)))
    if (size != 1)
      least[rank - node.rank(i) + d] = size;
  pinInput(node, 0, least, "the data");
  return success();
}

/// Returns true if input i varies only over the dimensions from `axis` on.
static bool isWithin(Node &node, size_t i, int64_t axis) {
  if (!node.has(i))
    return true;
  int64_t lead = node.rank(0) - node.rank(i);
  for (auto [d, size] : llvm::enumerate(node.shape(i)))
    if (lead + int64_t(d) < axis && size != 1)
      return false;
  return true;
}

/// Removes leading dimensions of 1, so that `value` begins at `axis` of the
/// data.
static Value dropLeading(Node &node, Value value, int64_t axis) {
  if (!value)
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t extra = type.getRank() - (node.rank(0) - axis);
  if (extra <= 0 || type.getNumDynamicDims() > 1)
    return value;
  return node.make<nn::ReshapeOp>(
      type.clone(type.getShape().drop_front(extra)), value);
}

/// Writes LayerNorm as elementary ops, for models that use Mean and InvStdDev.
static LogicalResult composeLayerNorm(Node &node, int64_t axis) {
  Type type = node.elementType(0);
  Type stash = elementTypeOf(node.context(), node.getInt("stash_type", 1));
  auto axes = llvm::to_vector(llvm::seq<int64_t>(axis, node.rank(0)));
  Value x = node.cast(node.input(0), stash);
  Value average = mean(node, x, axes);
  Value centered = node.make<nn::SubOp>(x, average);
  Value variance = mean(node, node.make<nn::MulOp>(centered, centered), axes);
  Value shifted = node.make<nn::AddOp>(
      variance, node.scalar(stash, node.getFloat("epsilon", 1e-5f)));
  Value inverse = node.make<nn::ReciprocalOp>(node.make<nn::SqrtOp>(shifted));
  Value y = node.cast(node.make<nn::MulOp>(centered, inverse), type);
  y = node.make<nn::MulOp>(y, node.cast(node.input(1), type));
  if (node.has(2))
    y = node.make<nn::AddOp>(y, node.cast(node.input(2), type));
  return node.replace({y, average, inverse});
}

static LogicalResult legalizeLayerNorm(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis) || failed(checkBroadcasts(node, 1)) ||
      failed(checkBroadcasts(node, 2)))
    return failure();
  bool isPlain = isWithin(node, 1, *axis) && isWithin(node, 2, *axis);
  if (!isPlain || node.isUsed(1) || node.isUsed(2))
    return composeLayerNorm(node, *axis);
  return node.replace(node.make<nn::LayerNormOp>(
      node.input(0), dropLeading(node, node.input(1), *axis),
      dropLeading(node, node.input(2), *axis), *axis,
      f32(node, "epsilon", 1e-5f)));
}

static LogicalResult legalizeRMSNorm(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis) || failed(checkBroadcasts(node, 1)))
    return failure();
  Value x = node.input(0), scale = node.input(1);
  APFloat epsilon = f32(node, "epsilon", 1e-5f);
  if (isWithin(node, 1, *axis))
    return node.replace(node.make<nn::RMSNormOp>(
        x, dropLeading(node, scale, *axis), *axis, epsilon));
  Value one = node.scalar(node.elementType(1), 1);
  Value y = node.make<nn::RMSNormOp>(x, one, *axis, epsilon);
  Value factor = node.cast(scale, node.elementType(0));
  return node.replace(node.make<nn::MulOp>(y, factor));
}

/// Computes x / |x|, and 0 where the norm is 0.
static LogicalResult legalizeLpNorm(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", -1), node.rank(0));
  if (failed(axis))
    return failure();
  int64_t p = node.getInt("p", 2);
  if (p != 1 && p != 2)
    return node.invalid("p is " + Twine(p) + ", but only 1 and 2 are defined");
  Value x = node.input(0), zero = node.scalar(node.elementType(0), 0);
  Value norm;
  if (p == 1)
    norm = node.make<nn::ReduceOp>(node.make<nn::AbsOp>(x), ReduceKind::sum,
                                   *axis, /*keep_dims=*/true);
  else
    norm = node.make<nn::SqrtOp>(node.make<nn::ReduceOp>(
        x, ReduceKind::sum_square, *axis, /*keep_dims=*/true));
  Value y = node.make<nn::DivOp>(x, norm);
  Value isZero = node.make<nn::EqualOp>(norm, zero);
  return node.replace(node.make<nn::SelectOp>(isZero, zero, y));
}

/// Computes (x - mean) / (sqrt(mean of x^2 - mean^2) + 1e-9).
static LogicalResult legalizeMVN(Node &node) {
  SmallVector<int64_t> axes;
  for (int64_t axis :
       node.getInts("axes").value_or(SmallVector<int64_t>{0, 2, 3})) {
    auto normal = node.normalizeAxis(axis, node.rank(0));
    if (failed(normal))
      return failure();
    axes.push_back(*normal);
  }
  llvm::sort(axes);
  axes.erase(llvm::unique(axes), axes.end());
  Value x = node.input(0);
  Value centered = node.make<nn::SubOp>(x, mean(node, x, axes));
  // The mean of (x - mean)^2 is equal to the variance, and never negative.
  Value variance = mean(node, node.make<nn::MulOp>(centered, centered), axes);
  Value deviation = node.make<nn::AddOp>(
      node.make<nn::SqrtOp>(variance), node.scalar(node.elementType(0), 1e-9));
  return node.replace(node.make<nn::DivOp>(centered, deviation));
}

//===----------------------------------------------------------------------===//
// Normalizations with parameters per channel
//===----------------------------------------------------------------------===//

static LogicalResult checkChannels(Node &node, size_t count) {
  if (node.rank(0) < 2)
    return node.invalid("expects data of rank 2 or more, but got " +
                        Twine(node.rank(0)));
  for (size_t i = 1; i <= count; ++i) {
    int64_t channels = node.shape(0)[1];
    if (node.rank(i) != 1)
      return node.invalid("input " + Twine(i) + " has rank " +
                          Twine(node.rank(i)) + ", but expects 1");
    int64_t size = node.shape(i)[0];
    if (!ShapedType::isDynamic(channels) && !ShapedType::isDynamic(size) &&
        channels != size)
      return node.invalid("input " + Twine(i) + " has " + Twine(size) +
                          " elements for " + Twine(channels) + " channels");
    node.op.getInputsMutable()[0].set(
        pinDim(node, node.input(0), /*dim=*/1, size, "the data"));
  }
  return success();
}

/// Normalizes by the statistics of the batch. Gives y, the running mean and the
/// running variance.
static LogicalResult legalizeTrainingBatchNorm(Node &node) {
  for (size_t i = 0; i < 5; ++i)
    if (node.elementType(i) != node.elementType(0))
      return node.unsupported("training mode with mixed element types");
  Type type = node.elementType(0);
  double momentum = node.getFloat("momentum", 0.9f);
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < node.rank(0); ++d)
    if (d != 1)
      axes.push_back(d);
  Value x = node.input(0);
  Value average = mean(node, x, axes);
  Value centered = node.make<nn::SubOp>(x, average);
  Value variance = mean(node, node.make<nn::MulOp>(centered, centered), axes);
  auto vector = [&](Value v) {
    return node.make<nn::ReshapeOp>(
        RankedTensorType::get({node.shape(0)[1]}, type), v);
  };
  Value batchMean = vector(average), batchVariance = vector(variance);
  Value y = node.make<nn::BatchNormOp>(x, node.input(1), node.input(2),
                                       batchMean, batchVariance,
                                       f32(node, "epsilon", 1e-5f),
                                       /*channels_last=*/false);
  auto blend = [&](Value running, Value batch) {
    Value kept = node.make<nn::MulOp>(running, node.scalar(type, momentum));
    Value added = node.make<nn::MulOp>(batch, node.scalar(type, 1 - momentum));
    return node.make<nn::AddOp>(kept, added);
  };
  return node.replace({y, blend(node.input(3), batchMean),
                       blend(node.input(4), batchVariance)});
}

/// Legalizes spatial = 0 (up to opset 8): each element of a sample has its own
/// parameters.
static LogicalResult legalizeElementBatchNorm(Node &node) {
  int64_t rank = node.rank(0);
  for (size_t i = 1; i < 5; ++i) {
    if (!node.has(i) || rank < 1 || node.rank(i) != rank - 1 ||
        failed(verifyCompatibleShape(node.shape(0).drop_front(),
                                     node.shape(i))))
      return node.invalid("input " + Twine(i) +
                          " does not have the shape of a sample, which "
                          "spatial = 0 asks for");
    if (!node.type(i).hasStaticShape())
      return node.unsupported("input " + Twine(i) +
                              " of open size with spatial = 0; fix it with "
                              "--shape");
    SmallVector<int64_t> sample = {ShapedType::kDynamic};
    llvm::append_range(sample, node.shape(i));
    pinInput(node, 0, sample, "the data");
  }
  Value epsilon =
      node.scalar(node.elementType(4), node.getFloat("epsilon", 1e-5f));
  Value deviation =
      unary<nn::SqrtOp>(node, binary<nn::AddOp>(node, node.input(4), epsilon));
  Value factor = binary<nn::DivOp>(node, node.input(1), deviation);
  Value shift = binary<nn::SubOp>(
      node, node.input(2), binary<nn::MulOp>(node, node.input(3), factor));
  return node.replace(binary<nn::AddOp>(
      node, binary<nn::MulOp>(node, node.input(0), factor), shift));
}

static LogicalResult legalizeBatchNorm(Node &node) {
  if (node.getInt("spatial", 1) == 0)
    return legalizeElementBatchNorm(node);
  if (failed(checkChannels(node, 4)))
    return failure();
  if (node.getInt("training_mode", 0) != 0)
    return legalizeTrainingBatchNorm(node);
  for (size_t i = 1; i < node.numOutputs(); ++i)
    if (node.isUsed(i))
      return node.unsupported("output " + Twine(i) +
                              ", which only training has; export the model "
                              "for inference");
  return node.replace(node.make<nn::BatchNormOp>(
      node.input(0), node.input(1), node.input(2), node.input(3), node.input(4),
      f32(node, "epsilon", 1e-5f), /*channels_last=*/false));
}

static LogicalResult legalizeInstanceNorm(Node &node) {
  if (failed(checkChannels(node, 2)))
    return failure();
  int64_t channels = node.shape(0)[1];
  if (ShapedType::isDynamic(channels))
    channels = node.shape(1)[0];
  if (ShapedType::isDynamic(channels))
    return node.unsupported("a dynamic channel dimension; fix it with --shape");
  if (channels == 0)
    return node.replace(node.input(0));
  return node.replace(node.make<nn::GroupNormOp>(
      node.input(0), node.input(1), node.input(2), channels,
      f32(node, "epsilon", 1e-5f), /*channels_last=*/false));
}

/// Legalizes GroupNormalization. Up to opset 20, scale and bias have one
/// element per group.
static LogicalResult legalizeGroupNorm(Node &node) {
  if (node.rank(0) < 2)
    return node.invalid("expects data of rank 2 or more, but got " +
                        Twine(node.rank(0)));
  if (node.opset >= 21 && node.rank(1) == 1)
    node.op.getInputsMutable()[0].set(
        pinDim(node, node.input(0), /*dim=*/1, node.shape(1)[0], "the data"));
  int64_t channels = node.shape(0)[1], groups = node.getInt("num_groups", 0);
  if (ShapedType::isDynamic(channels))
    return node.unsupported("a dynamic channel dimension; fix it with --shape");
  if (groups < 1 || channels % groups != 0)
    return node.invalid("num_groups is " + Twine(groups) + ", but there are " +
                        Twine(channels) + " channels");
  Value vectors[2];
  for (size_t i : {1, 2}) {
    int64_t want = node.opset < 21 ? groups : channels;
    pinInput(node, i, {want}, i == 1 ? "scale" : "bias");
    if (node.rank(i) != 1 || node.shape(i)[0] != want)
      return node.invalid("input " + Twine(i) + " does not have " +
                          Twine(want) + " elements");
    vectors[i - 1] = node.input(i);
    if (node.opset < 21 && groups != channels) {
      RankedTensorType type = node.type(i);
      Value column =
          node.make<nn::ReshapeOp>(type.clone({groups, 1}), node.input(i));
      Value wide = node.make<nn::BroadcastToOp>(
          type.clone({groups, channels / groups}), column, ValueRange());
      vectors[i - 1] = node.make<nn::ReshapeOp>(type.clone({channels}), wide);
    }
  }
  return node.replace(node.make<nn::GroupNormOp>(
      node.input(0), vectors[0], vectors[1], groups,
      f32(node, "epsilon", 1e-5f), /*channels_last=*/false));
}

static LogicalResult legalizeLRN(Node &node) {
  if (node.rank(0) < 2)
    return node.invalid("expects data of rank 2 or more, but got " +
                        Twine(node.rank(0)));
  int64_t size = node.getInt("size", 0);
  if (size < 1)
    return node.invalid("size is " + Twine(size));
  double alpha = node.getFloat("alpha", 1e-4f);
  // Limits the window to all channels. The sum is still divided by the stated
  // window size.
  int64_t channels = node.shape(0)[1];
  if (channels == 0)
    return node.replace(node.input(0));
  if (channels > 0 && size / 2 >= channels) {
    int64_t most = 2 * channels - 1;
    alpha *= double(most) / double(size);
    size = most;
  }
  // Limits the window, because its elements are unrolled.
  constexpr int64_t kMaxWindow = 4096;
  if (size > kMaxWindow)
    return node.unsupported("a window of " + Twine(size) + " channels");
  return node.replace(node.make<nn::LRNOp>(
      node.input(0), size, APFloat(float(alpha)),
      f32(node, "beta", 0.75f), f32(node, "bias", 1), /*channels_last=*/false));
}

void legalize::populateNormalization(Legalizers &legalizers) {
  legalizers.add("Softmax", legalizeSoftmax<false>);
  legalizers.add("LogSoftmax", legalizeSoftmax<true>);
  legalizers.add("LayerNormalization", legalizeLayerNorm);
  legalizers.add("RMSNormalization", legalizeRMSNorm);
  legalizers.add("LpNormalization", legalizeLpNorm);
  legalizers.add("MeanVarianceNormalization", legalizeMVN);
  legalizers.add("BatchNormalization", legalizeBatchNorm);
  legalizers.add("InstanceNormalization", legalizeInstanceNorm);
  legalizers.add("GroupNormalization", legalizeGroupNorm);
  legalizers.add("LRN", legalizeLRN);
}
