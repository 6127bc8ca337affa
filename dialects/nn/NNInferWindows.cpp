//===- NNInferWindows.cpp - types of convolutions and pools ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"

using namespace mlir;
using namespace ingot::nn;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
static bool isDynamic(int64_t size) { return ShapedType::isDynamic(size); }

int64_t ingot::nn::windowedSize(int64_t size, int64_t kernel, int64_t stride,
                                int64_t padding, int64_t dilation) {
  if (isDynamic(size) || isDynamic(kernel))
    return kDynamic;
  return (size + padding - dilation * (kernel - 1) - 1) / stride + 1;
}

/// The result shape of a spatial op on data of `type`: `size(i)` gives spatial
/// dimension i.
template <typename Size>
static RankedTensorType spatialType(RankedTensorType type, bool channelsLast,
                                    int64_t channels, Size size) {
  SmallVector<int64_t> shape(type.getShape());
  int64_t first = channelsLast ? 1 : 2;
  shape[channelsLast ? type.getRank() - 1 : 1] = channels;
  for (int64_t i = 0; i < type.getRank() - 2; ++i)
    shape[first + i] = size(i, shape[first + i]);
  return RankedTensorType::get(shape, type.getElementType());
}

/// C1 and C2: ranks, and one positive stride and dilation a spatial dimension.
static LogicalResult checkWindow(std::optional<Location> loc, int64_t rank,
                                 ArrayRef<int64_t> kernel,
                                 ArrayRef<int64_t> strides,
                                 ArrayRef<int64_t> pads,
                                 ArrayRef<int64_t> dilations) {
  if (rank < 3)
    return emitOptionalError(loc, "expects data of rank 3 or more, but got ",
                             rank);
  size_t spatial = rank - 2;
  if (kernel.size() != spatial)
    return emitOptionalError(loc, "expects ", spatial, " kernel dims, but got ",
                             kernel.size());
  if (strides.size() != spatial || dilations.size() != spatial)
    return emitOptionalError(loc, "expects ", spatial,
                             " strides and dilations, but got ", strides.size(),
                             " and ", dilations.size());
  if (pads.size() != 2 * spatial)
    return emitOptionalError(loc, "expects ", 2 * spatial, " pads, but got ",
                             pads.size());
  auto positive = [](int64_t v) { return v > 0; };
  auto positiveOrDynamic = [](int64_t v) { return v > 0 || isDynamic(v); };
  if (!llvm::all_of(strides, positive) || !llvm::all_of(dilations, positive) ||
      !llvm::all_of(kernel, positiveOrDynamic))
    return emitOptionalError(
        loc, "expects positive kernel dims, strides and dilations");
  return success();
}

/// How many windows of `kernel` positions lie in spatial dimension `i` of
/// `size`; -1 if none does.
template <typename Adaptor>
static int64_t windows(Adaptor op, int64_t kernel, int64_t i, int64_t size) {
  ArrayRef<int64_t> pads = op.getPads();
  int64_t padding = pads[i] + pads[pads.size() / 2 + i];
  int64_t dilation = op.getDilations()[i];
  if (!isDynamic(size) && !isDynamic(kernel) &&
      size + padding < dilation * (kernel - 1) + 1)
    return -1;
  return windowedSize(size, kernel, op.getStrides()[i], padding, dilation);
}

static LogicalResult checkFits(std::optional<Location> loc,
                               RankedTensorType type) {
  for (int64_t size : type.getShape())
    if (!isDynamic(size) && size < 0)
      return emitOptionalError(
          loc, "the dilated kernel is larger than the padded input");
  return success();
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

static LogicalResult checkGroups(std::optional<Location> loc, int64_t channels,
                                 int64_t perGroup, int64_t groups,
                                 int64_t outputs) {
  if (groups < 1)
    return emitOptionalError(loc, "expects positive groups, but got ", groups);
  if (!isDynamic(channels) && !isDynamic(perGroup) &&
      channels != perGroup * groups)
    return emitOptionalError(loc, "expects ", perGroup * groups,
                             " input channels (", perGroup, " a group, ",
                             groups, " groups), but got ", channels);
  if (!isDynamic(outputs) && outputs % groups != 0)
    return emitOptionalError(loc, "expects groups to divide ", outputs,
                             " output channels, but got ", groups);
  return success();
}

/// Ranks and windows of both directions.
template <typename Adaptor>
static LogicalResult checkConvWindow(std::optional<Location> loc, Adaptor op) {
  RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
  if (x.getRank() != w.getRank())
    return emitOptionalError(loc,
                             "expects data and weights of one rank, but got ",
                             x.getRank(), " and ", w.getRank());
  if (x.getRank() < 3)
    return emitOptionalError(loc, "expects data of rank 3 or more, but got ",
                             x.getRank());
  return checkWindow(loc, x.getRank(), w.getShape().drop_front(2),
                     op.getStrides(), op.getPads(), op.getDilations());
}

INFER(ConvOp) {
  if (failed(checkConvWindow(loc, op)))
    return failure();
  RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
  int64_t channels = x.getDimSize(op.getChannelsLast() ? x.getRank() - 1 : 1);
  if (failed(checkGroups(loc, channels, w.getDimSize(1), op.getGroups(),
                         w.getDimSize(0))))
    return failure();
  RankedTensorType y = spatialType(
      x, op.getChannelsLast(), w.getDimSize(0), [&](int64_t i, int64_t size) {
        return windows(op, w.getDimSize(2 + i), i, size);
      });
  results.push_back(y);
  return checkFits(loc, y);
}

INFER(ConvTransposeOp) {
  if (failed(checkConvWindow(loc, op)))
    return failure();
  RankedTensorType x = typeOf(op.getX()), w = typeOf(op.getW());
  ArrayRef<int64_t> kernel = w.getShape().drop_front(2), pads = op.getPads();
  size_t n = kernel.size();
  if (op.getOutputPadding().size() != n)
    return emitOptionalError(loc, "expects ", n, " output paddings, but got ",
                             op.getOutputPadding().size());
  int64_t channels = x.getDimSize(op.getChannelsLast() ? x.getRank() - 1 : 1);
  int64_t groups = op.getGroups();
  if (groups < 1)
    return emitOptionalError(loc, "expects positive groups, but got ", groups);
  if (!isDynamic(channels) && !isDynamic(w.getDimSize(0)) &&
      channels != w.getDimSize(0))
    return emitOptionalError(loc, "expects ", w.getDimSize(0),
                             " input channels, but got ", channels);
  if (!isDynamic(w.getDimSize(0)) && w.getDimSize(0) % groups != 0)
    return emitOptionalError(loc, "expects groups to divide ", w.getDimSize(0),
                             " input channels, but got ", groups);
  int64_t outputs =
      isDynamic(w.getDimSize(1)) ? kDynamic : w.getDimSize(1) * groups;
  RankedTensorType y = spatialType(
      x, op.getChannelsLast(), outputs, [&](int64_t i, int64_t size) {
        if (isDynamic(size) || isDynamic(kernel[i]))
          return kDynamic;
        int64_t result = (size - 1) * op.getStrides()[i] +
                         (kernel[i] - 1) * op.getDilations()[i] + 1 +
                         op.getOutputPadding()[i] - pads[i] - pads[n + i];
        return result < 0 ? int64_t(-1) : result;
      });
  results.push_back(y);
  return checkFits(loc, y);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static LogicalResult inferPool(std::optional<Location> loc, Adaptor op,
                               bool channelsLast,
                               SmallVectorImpl<Type> &results) {
  RankedTensorType x = typeOf(op.getX());
  ArrayRef<int64_t> kernel = op.getKernel();
  if (failed(checkWindow(loc, x.getRank(), kernel, op.getStrides(),
                         op.getPads(), op.getDilations())))
    return failure();
  int64_t channels = x.getDimSize(channelsLast ? x.getRank() - 1 : 1);
  RankedTensorType y =
      spatialType(x, channelsLast, channels, [&](int64_t i, int64_t size) {
        return windows(op, kernel[i], i, size);
      });
  results.push_back(y);
  return checkFits(loc, y);
}

INFER(MaxPoolOp) { return inferPool(loc, op, op.getChannelsLast(), results); }
INFER(AvgPoolOp) { return inferPool(loc, op, op.getChannelsLast(), results); }

INFER(MaxPoolWithIndicesOp) {
  if (failed(inferPool(loc, op, /*channelsLast=*/false, results)))
    return failure();
  auto y = cast<RankedTensorType>(results.back());
  results.push_back(y.clone(IntegerType::get(y.getContext(), 64)));
  return success();
}
