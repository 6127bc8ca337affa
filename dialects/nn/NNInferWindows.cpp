//===- NNInferWindows.cpp - types of convolutions and pools ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"
#include "dialects/nn/Scalars.h"

using namespace mlir;
using namespace ingot::nn;

static bool isDynamic(int64_t size) { return ShapedType::isDynamic(size); }

/// Checks the rules C1 and C2: ranks, and one positive stride and dilation for
/// each spatial dimension.
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

/// Returns the number of windows in spatial dimension `i`. The dimension has
/// `size` positions, and a window spans `kernel` positions. Requires at least
/// one window.
template <typename Adaptor>
static FailureOr<Size> windows(SizeRules &rules, Adaptor op, Size kernel,
                               int64_t i, Size size) {
  ArrayRef<int64_t> pads = op.getPads();
  int64_t padding = pads[i] + pads[pads.size() / 2 + i];
  int64_t dilation = op.getDilations()[i];
  Size padded = rules.add(size, padding);
  Size span = rules.add(rules.multiply(rules.add(kernel, -1), dilation), 1);
  if (kernel && !knownSize(kernel) &&
      failed(rules.require(SizeRelation::atLeast, kernel, rules.constant(1),
                           "expects positive kernel dims, but got {0}")))
    return failure();
  // With stride 1, a dynamic size may be one less than the window. The result
  // is then empty.
  bool mayBeNone =
      padded && span && !(knownSize(padded) && knownSize(span)) &&
      op.getStrides()[i] == 1;
  std::string shown = "{1}";
  if (auto known = mayBeNone ? knownSize(span) : std::nullopt)
    shown = std::to_string(*known);
  if (failed(rules.require(
          SizeRelation::atLeast, padded, rules.add(span, mayBeNone ? -1 : 0),
          "the dilated kernel is larger than the padded input: " + shown +
              " against {0} in spatial dimension " + Twine(i))))
    return failure();
  return rules.add(rules.floorDiv(rules.add(padded, rules.multiply(span, -1)),
                                  op.getStrides()[i]),
                   1);
}

/// Returns the sizes of a spatial op's result. `size(i)` returns the size of
/// spatial dimension i.
template <typename SizeOf>
static FailureOr<SmallVector<Size>>
spatialSizes(ArrayRef<Size> x, bool channelsLast, Size channels, SizeOf size) {
  SmallVector<Size> sizes(x);
  sizes[channelsLast ? x.size() - 1 : 1] = channels;
  size_t first = channelsLast ? 1 : 2;
  for (size_t i = 0; i < x.size() - 2; ++i) {
    FailureOr<Size> result = size(i, x[first + i]);
    if (failed(result))
      return failure();
    sizes[first + i] = *result;
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Checks ranks and windows of convolutions and transposed convolutions.
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
  if (failed(checkWindow(loc, x.getRank(), w.getShape().drop_front(2),
                         op.getStrides(), op.getPads(), op.getDilations())))
    return failure();
  int64_t groups = op.getGroups();
  if (groups < 1)
    return emitOptionalError(loc, "expects positive groups, but got ", groups);
  return success();
}

static LogicalResult requireBias(SizeRules &rules, Value bias, Size channels) {
  if (!bias)
    return success();
  SmallVector<Size> sizes = rules.sizesOf(bias);
  if (sizes.size() != 1)
    return emitOptionalError(rules.getLoc(),
                             "expects bias of rank 1, but got ", sizes.size());
  return rules.require(SizeRelation::equal, sizes.front(), channels,
                       "expects bias of {1} elements, but got {0}");
}

/// Checks that a zero point belongs to int8 or int16 data and is a value of the
/// data type.
template <typename Op>
static LogicalResult checkZeroPoint(std::optional<Location> loc, Op op) {
  Type element = typeOf(op.getX()).getElementType();
  int64_t zero = op.getXZeroPoint();
  if (zero == 0)
    return success();
  if (!isInt8OrInt16(element))
    return emitOptionalError(loc,
                             "expects bytes or words where x_zero_point is ",
                             zero, ", but got ", element);
  int64_t count = int64_t(1) << element.getIntOrFloatBitWidth();
  int64_t least = element.isUnsignedInteger() ? 0 : -count / 2,
          most = least + count - 1;
  if (zero < least || zero > most)
    return emitOptionalError(loc, "expects x_zero_point in [", least, ", ",
                             most, "], but got ", zero);
  return success();
}

INFER(ConvOp) {
  if (failed(checkConvWindow(loc, op)))
    return failure();
  SmallVector<Size> x = rules.sizesOf(op.getX()), w = rules.sizesOf(op.getW());
  int64_t groups = op.getGroups();
  Size channels = op.getChannelsLast() ? x.back() : x[1];
  std::string taken = std::to_string(groups) + " groups";
  if (auto perGroup = knownSize(w[1]))
    taken = std::to_string(*perGroup) + " a group, " + taken;
  if (failed(rules.require(SizeRelation::equal, channels,
                           rules.multiply(w[1], groups),
                           "expects {1} input channels (" + taken +
                               "), but got {0}")) ||
      failed(rules.require(SizeRelation::multipleOf, w[0],
                           rules.constant(groups),
                           "expects groups to divide {0} output channels, but "
                           "got {1}")))
    return failure();
  FailureOr<SmallVector<Size>> sizes = spatialSizes(
      x, op.getChannelsLast(), w[0], [&](int64_t i, Size size) {
        return windows(rules, op, w[2 + i], i, size);
      });
  if (failed(sizes))
    return failure();
  if (failed(checkZeroPoint(loc, op)))
    return failure();
  results.push_back(
      {*sizes, productElement(typeOf(op.getX()).getElementType())});
  return requireBias(rules, op.getBias(), w[0]);
}

INFER(ConvTransposeOp) {
  if (failed(checkConvWindow(loc, op)))
    return failure();
  SmallVector<Size> x = rules.sizesOf(op.getX()), w = rules.sizesOf(op.getW());
  ArrayRef<int64_t> pads = op.getPads();
  size_t n = x.size() - 2;
  if (op.getOutputPadding().size() != n)
    return emitOptionalError(loc, "expects ", n, " output paddings, but got ",
                             op.getOutputPadding().size());
  int64_t groups = op.getGroups();
  Size channels = op.getChannelsLast() ? x.back() : x[1];
  if (failed(rules.require(SizeRelation::equal, channels, w[0],
                           "expects {1} input channels, but got {0}")) ||
      failed(rules.require(SizeRelation::multipleOf, w[0],
                           rules.constant(groups),
                           "expects groups to divide {0} input channels, but "
                           "got {1}")))
    return failure();
  Size outputs = rules.multiply(w[1], groups);
  FailureOr<SmallVector<Size>> sizes = spatialSizes(
      x, op.getChannelsLast(), outputs,
      [&](int64_t i, Size size) -> FailureOr<Size> {
        // Size: (size - 1) stride + (kernel - 1) dilation + 1 + output_padding
        // - pads.
        int64_t stride = op.getStrides()[i], dilation = op.getDilations()[i];
        int64_t rest = op.getOutputPadding()[i] - pads[i] - pads[n + i] -
                       stride - dilation + 1;
        Size result = rules.add(rules.add(rules.multiply(size, stride),
                                          rules.multiply(w[2 + i], dilation)),
                                rest);
        if (failed(rules.require(
                SizeRelation::atLeast, result, rules.constant(0),
                "the pads are larger than the result: spatial dimension " +
                    Twine(i) + " would have {0} elements")))
          return failure();
        return result;
      });
  if (failed(sizes) || failed(checkZeroPoint(loc, op)))
    return failure();
  results.push_back(
      {*sizes, productElement(typeOf(op.getX()).getElementType())});
  return requireBias(rules, op.getBias(), outputs);
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

template <typename Adaptor>
static LogicalResult inferPool(SizeRules &rules, Adaptor op, bool channelsLast,
                               SmallVectorImpl<SizedType> &results) {
  SmallVector<Size> x = rules.sizesOf(op.getX());
  ArrayRef<int64_t> kernel = op.getKernel();
  if (failed(checkWindow(rules.getLoc(), x.size(), kernel, op.getStrides(),
                         op.getPads(), op.getDilations())))
    return failure();
  ArrayRef<int64_t> pads = op.getPads();
  FailureOr<SmallVector<Size>> sizes = spatialSizes(
      x, channelsLast, channelsLast ? x.back() : x[1],
      [&](int64_t i, Size size) -> FailureOr<Size> {
        // A window of padding alone has no largest element and no mean.
        if (pads[i] + pads[pads.size() / 2 + i] > 0 &&
            failed(rules.require(SizeRelation::atLeast, size, rules.constant(1),
                                 "expects elements to pool, but spatial "
                                 "dimension " +
                                     Twine(i) + " has {0}")))
          return failure();
        return windows(rules, op, rules.constant(kernel[i]), i, size);
      });
  if (failed(sizes))
    return failure();
  results.push_back({*sizes, typeOf(op.getX()).getElementType()});
  return success();
}

INFER(MaxPoolOp) { return inferPool(rules, op, op.getChannelsLast(), results); }
INFER(AvgPoolOp) { return inferPool(rules, op, op.getChannelsLast(), results); }

INFER(MaxPoolWithIndicesOp) {
  if (failed(inferPool(rules, op, /*channelsLast=*/false, results)))
    return failure();
  SizedType y = results.back();
  results.push_back(
      {y.sizes, IntegerType::get(y.elementType.getContext(), 64)});
  return success();
}
