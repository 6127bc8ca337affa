//===- Convolution.cpp - Conv, ConvTranspose ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/nn/WindowAttributes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Returns the kernel's spatial dimensions from the weights. Reports a
/// different kernel_shape, and ranks that do not fit.
static FailureOr<SmallVector<int64_t>> kernelOf(Node &node, Value data,
                                                Value weights) {
  if (!data || !weights)
    return node.invalid("data and weights are needed");
  RankedTensorType x = typeOf(data), w = typeOf(weights);
  if (x.getRank() < 3 || w.getRank() != x.getRank())
    return node.invalid(
        "data and weights need one rank of at least 3, but got " +
        Twine(x.getRank()) + " and " + Twine(w.getRank()));
  SmallVector<int64_t> kernel(w.getShape().drop_front(2));
  if (auto shape = node.getInts("kernel_shape")) {
    if (shape->size() != kernel.size())
      return node.invalid("kernel_shape has " + Twine(shape->size()) +
                          " elements, but the weights have " +
                          Twine(kernel.size()) + " spatial dimensions");
    for (auto [stated, actual] : llvm::zip_equal(*shape, kernel))
      if (!ShapedType::isDynamic(actual) && stated != actual)
        return node.invalid("kernel_shape has " + Twine(stated) +
                            " where the weights have " + Twine(actual));
  }
  for (int64_t size : kernel)
    if (ShapedType::isDynamic(size))
      return node.unsupported("weights with a dynamic kernel dimension; fix it "
                              "with --shape");
  return kernel;
}

/// Pins dynamic kernel dimensions of the weights to the attribute kernel_shape.
static Value pinKernel(Node &node, Value w) {
  auto stated = node.getInts("kernel_shape");
  if (!stated)
    return w;
  SmallVector<int64_t> shape(2, ShapedType::kDynamic);
  llvm::append_range(shape, *stated);
  return pinSizes(node, w, shape, "the weights");
}

FailureOr<Value> legalize::convolve(Node &node, Value x, Value w, Value bias,
                                    Value fill) {
  w = pinKernel(node, w);
  auto kernel = kernelOf(node, x, w);
  if (failed(kernel))
    return failure();
  int64_t groups = node.getInt("group", 1), each = typeOf(w).getDimSize(1);
  if (groups > 0 && groups <= nn::kMostElements && !ShapedType::isDynamic(each))
    x = pinDim(node, x, /*dim=*/1, each * groups, "the data");
  auto window = readWindow(node, *kernel);
  if (failed(window))
    return failure();
  auto data = resolveAutoPad(node, *window, x, fill);
  if (failed(data))
    return failure();
  return node.infer<nn::ConvOp>(*data, w, bias, window->strides, window->pads,
                                window->dilations, groups,
                                /*channels_last=*/false);
}

static LogicalResult legalizeConv(Node &node) {
  auto y = convolve(node, node.input(0), node.input(1), node.input(2));
  return failed(y) ? failure() : node.replace(*y);
}

/// Cuts the result `y` of a transposed convolution without pads to
/// output_shape. The dynamic dimensions of y determine the pads. Elements
/// outside of y get the bias, or 0.
static Value cutTo(Node &node, Value y, ArrayRef<int64_t> shape, bool upper) {
  Sizes own = sizesOf(node, y), from(2, sizeAttr(node, 0)), kept = own,
        wanted = own;
  for (auto [i, size] : llvm::enumerate(shape)) {
    OpFoldResult total = maxSizes(
        node, subSizes(node, own[2 + i], sizeAttr(node, size)),
        sizeAttr(node, 0));
    OpFoldResult less = divSizes(node, total, sizeAttr(node, 2));
    from.push_back(upper ? less : subSizes(node, total, less));
    wanted[2 + i] = sizeAttr(node, size);
    kept[2 + i] = minSizes(node, own[2 + i], wanted[2 + i]);
  }
  Value part = takePart(node, y, from, kept);
  Value rest = scalar(node, typeOf(y).getElementType(), 0);
  if (node.has(2)) {
    Sizes channels(own.size() - 1, sizeAttr(node, 1));
    channels.front() = sizeOf(node, node.input(2), 0);
    rest = reshape(node, node.input(2), channels);
  }
  return setPart(node, broadcastTo(node, rest, wanted), part,
                 Sizes(own.size(), sizeAttr(node, 0)));
}

/// Splits the excess size of a transposed convolution into two pads. If the
/// total is negative, the missing size is added at the end.
static std::pair<int64_t, int64_t> splitPads(int64_t total, bool upper) {
  if (total < 0)
    return {0, total};
  int64_t less = total / 2, more = total - less;
  return upper ? std::pair(less, more) : std::pair(more, less);
}

static LogicalResult legalizeConvTranspose(Node &node) {
  Value weights = pinKernel(node, node.input(1));
  auto kernel = kernelOf(node, node.input(0), weights);
  if (failed(kernel))
    return failure();
  Value x = pinDim(node, node.input(0), /*dim=*/1,
                   typeOf(weights).getDimSize(0), "the data");
  auto window = readWindow(node, *kernel);
  if (failed(window))
    return failure();
  size_t n = window->size();
  ArrayRef<int64_t> sizes = node.shape(0).drop_front(2);
  auto outputPadding = node.getInts("output_padding")
                           .value_or(SmallVector<int64_t>(n, 0));
  if (outputPadding.size() != n)
    return node.invalid("output_padding needs " + Twine(n) +
                        " elements, but has " + Twine(outputPadding.size()));
  for (size_t i = 0; i < n; ++i)
    if (outputPadding[i] < 0 ||
        outputPadding[i] >=
            std::max(window->strides[i], window->dilations[i]))
      return node.invalid("output_padding " + Twine(outputPadding[i]) +
                          " is not less than stride or dilation");

  StringRef autoPad = node.getString("auto_pad", "NOTSET");
  bool upper = autoPad == "SAME_UPPER";
  auto shape = node.getInts("output_shape");
  if (shape && shape->size() == n + 2)
    shape->erase(shape->begin(), shape->begin() + 2);
  if (shape && shape->size() != n)
    return node.invalid("output_shape needs " + Twine(n) +
                        " elements, but has " + Twine(shape->size()));
  bool same = upper || autoPad == "SAME_LOWER";
  if (!same && autoPad != "NOTSET" && autoPad != "VALID" && !autoPad.empty())
    return node.invalid("auto_pad is " + autoPad);
  if (autoPad == "VALID")
    window->pads.assign(2 * n, 0);
  if (shape)
    for (auto [i, size] : llvm::enumerate(*shape))
      if (size < 1 || size >= int64_t(1) << 31)
        return node.badElement("output_shape", i, Twine(size),
                               nn::describeRange({1, (int64_t(1) << 31) - 1}));
  bool isOpen = shape && llvm::any_of(sizes, ShapedType::isDynamic);
  if (isOpen)
    window->pads.assign(2 * n, 0);
  for (size_t i = 0; i < n && (shape || same) && !isOpen; ++i) {
    int64_t beyond = window->span(i) + outputPadding[i];
    int64_t total = beyond - window->strides[i];
    if (shape)
      total = (sizes[i] - 1) * window->strides[i] + beyond - (*shape)[i];
    std::tie(window->pads[i], window->pads[n + i]) = splitPads(total, upper);
  }
  auto y = node.infer<nn::ConvTransposeOp>(
      x, weights, node.input(2), window->strides, window->pads,
      window->dilations, outputPadding, node.getInt("group", 1),
      /*channels_last=*/false);
  if (failed(y))
    return failure();
  return node.replace(isOpen ? cutTo(node, *y, *shape, upper) : *y);
}

void legalize::populateConvolution(Legalizers &legalizers) {
  legalizers.add("Conv", legalizeConv);
  legalizers.add("ConvTranspose", legalizeConvTranspose);
}
