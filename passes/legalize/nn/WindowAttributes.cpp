//===- WindowAttributes.cpp - attributes of convolution and pooling -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/nn/WindowAttributes.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Limit of window attributes. Products of values below it do not overflow.
static constexpr int64_t kLimit = int64_t(1) << 31;

static LogicalResult readPositive(Node &node, StringRef name, size_t count,
                                  SmallVector<int64_t> &values) {
  values = node.getInts(name).value_or(SmallVector<int64_t>(count, 1));
  if (values.size() != count)
    return node.invalid(name + " needs " + Twine(count) +
                        " elements, but has " + Twine(values.size()));
  for (int64_t value : values)
    if (value < 1 || value >= kLimit)
      return node.invalid(name + " needs positive elements, but has " +
                          Twine(value));
  return success();
}

FailureOr<WindowAttributes> legalize::readWindow(Node &node,
                                                 ArrayRef<int64_t> kernel) {
  WindowAttributes window;
  window.kernel.assign(kernel.begin(), kernel.end());
  size_t n = kernel.size();
  for (int64_t size : kernel)
    if (!ShapedType::isDynamic(size) && (size < 1 || size >= kLimit))
      return node.invalid("the kernel has a dimension of " + Twine(size));
  if (failed(readPositive(node, "strides", n, window.strides)) ||
      failed(readPositive(node, "dilations", n, window.dilations)))
    return failure();
  window.pads = node.getInts("pads").value_or(SmallVector<int64_t>(2 * n, 0));
  if (window.pads.size() != 2 * n)
    return node.invalid("pads needs " + Twine(2 * n) + " elements, but has " +
                        Twine(window.pads.size()));
  for (int64_t pad : window.pads)
    if (pad < 0 || pad >= kLimit)
      return node.invalid("pads has the element " + Twine(pad));
  return window;
}

Value legalize::padBy(Node &node, Value x, Value fill,
                      ArrayRef<OpFoldResult> low, ArrayRef<OpFoldResult> high) {
  Sizes own = sizesOf(node, x), sizes;
  for (auto [size, before, after] : llvm::zip_equal(own, low, high))
    sizes.push_back(addSizes(node, addSizes(node, size, before), after));
  return setPart(node, broadcastTo(node, fill, sizes), x, low);
}

/// Returns the pads of auto_pad before and after a dimension of `size`
/// elements.
static std::pair<OpFoldResult, OpFoldResult>
samePads(Node &node, const WindowAttributes &window, size_t i,
         OpFoldResult size, bool isUpper) {
  int64_t stride = window.strides[i], span = window.span(i);
  auto n = [&](int64_t value) { return sizeAttr(node, value); };
  // Extent of all windows together: (⌈size / stride⌉ - 1) stride + span.
  OpFoldResult windows =
      divSizes(node, addSizes(node, size, n(stride - 1)), n(stride));
  OpFoldResult covered =
      addSizes(node, mulSizes(node, windows, n(stride)), n(span - stride));
  if (span < stride)
    covered = maxSizes(node, covered, size);
  OpFoldResult total = subSizes(node, covered, size);
  OpFoldResult less = divSizes(node, total, n(2));
  OpFoldResult more = subSizes(node, total, less);
  return isUpper ? std::pair(less, more) : std::pair(more, less);
}

FailureOr<Value> legalize::resolveAutoPad(Node &node, WindowAttributes &window,
                                          Value x, Value fill) {
  StringRef autoPad = node.getString("auto_pad", "NOTSET");
  if (autoPad == "NOTSET" || autoPad.empty())
    return x;
  size_t n = window.size();
  window.pads.assign(2 * n, 0);
  if (autoPad == "VALID")
    return x;
  bool isUpper = autoPad == "SAME_UPPER";
  if (!isUpper && autoPad != "SAME_LOWER")
    return node.invalid("auto_pad is " + autoPad);
  Sizes low(n + 2, sizeAttr(node, 0)), high = low;
  bool isOpen = false;
  for (size_t i = 0; i < n; ++i) {
    // If the stride is 1, use any size, because the pads do not depend on the
    // size.
    OpFoldResult size =
        window.strides[i] == 1 ? sizeAttr(node, 1) : sizeOf(node, x, 2 + i);
    auto [before, after] = samePads(node, window, i, size, isUpper);
    auto first = getConstantIntValue(before), last = getConstantIntValue(after);
    if (first && last) {
      window.pads[i] = *first;
      window.pads[n + i] = *last;
      continue;
    }
    isOpen = true;
    low[2 + i] = before;
    high[2 + i] = after;
  }
  if (!isOpen)
    return x;
  if (!fill)
    fill = scalar(node, typeOf(x).getElementType(), 0);
  return padBy(node, x, fill, low, high);
}

/// Resolves ceil_mode for a dynamic dimension by increasing the end pad by the
/// stride minus one. ONNX leaves out windows that begin in the end padding. If
/// the end padding is small, no window begins there. The pooling op itself
/// checks that a window fits.
static OpFoldResult ceilOpen(Node &node, WindowAttributes &window, size_t i,
                             OpFoldResult size) {
  Indices index{node.builder, node.loc()};
  size_t n = window.size();
  int64_t stride = window.strides[i], span = window.span(i),
          begin = window.pads[i], &end = window.pads[n + i];
  Value had = index.add(indexValue(node, size), index.n(begin));
  Value padded = index.add(had, index.n(end));
  OpFoldResult windows;
  if (end > span - stride) {
    Value room = index.sub(padded, index.n(span));
    Value steps =
        index.div(index.add(room, index.n(stride - 1)), index.n(stride));
    // Index of the last window that begins before the end of the data.
    Value most = index.div(index.sub(had, index.n(1)), index.n(stride));
    windows = index.add(index.min(steps, most), index.n(1));
  }
  end += stride - 1;
  return windows;
}

LogicalResult legalize::resolveCeilMode(Node &node, WindowAttributes &window,
                                        Value x, Sizes &sizes) {
  if (node.getInt("ceil_mode", 0) == 0)
    return success();
  size_t n = window.size();
  Sizes cut(n);
  for (size_t i = 0; i < n; ++i) {
    int64_t stride = window.strides[i], size = typeOf(x).getDimSize(2 + i);
    if (stride == 1)
      continue;
    if (ShapedType::isDynamic(size)) {
      cut[i] = ceilOpen(node, window, i, sizeOf(node, x, 2 + i));
      continue;
    }
    int64_t begin = window.pads[i], &end = window.pads[n + i];
    int64_t room = size + begin + end - window.span(i);
    // Allows a kernel that exceeds the padded input by less than a stride:
    // ceil_mode then adds the only window.
    if (room + stride <= 0 || size + begin == 0)
      return node.invalid("the dilated kernel is larger than the padded input");
    int64_t out = (room + stride - 1) / stride + 1;
    // Leaves out a last window that starts in the end padding.
    if ((out - 1) * stride >= size + begin)
      --out;
    int64_t needed = (out - 1) * stride + window.span(i) - size - begin;
    end = std::max(needed, std::min(end, needed + stride - 1));
  }
  if (llvm::any_of(cut, [](OpFoldResult size) { return bool(size); }))
    sizes = cut;
  return success();
}

Value legalize::cutWindows(Node &node, Value y, ArrayRef<OpFoldResult> sizes) {
  if (sizes.empty())
    return y;
  Sizes kept = sizesOf(node, y);
  for (auto [i, size] : llvm::enumerate(sizes))
    if (size)
      kept[2 + i] = size;
  return takePart(node, y, Sizes(kept.size(), sizeAttr(node, 0)), kept);
}
