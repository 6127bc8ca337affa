//===- Window.cpp - attributes of convolution and pooling -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Window.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// No real window comes near; products of such numbers do not overflow.
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

LogicalResult legalize::resolveAutoPad(Node &node, WindowAttributes &window,
                                       ArrayRef<int64_t> sizes) {
  StringRef autoPad = node.getString("auto_pad", "NOTSET");
  if (autoPad == "NOTSET" || autoPad.empty())
    return success();
  size_t n = window.size();
  window.pads.assign(2 * n, 0);
  if (autoPad == "VALID")
    return success();
  if (autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER")
    return node.invalid("auto_pad is " + autoPad);
  for (size_t i = 0; i < n; ++i) {
    int64_t stride = window.strides[i], span = window.span(i);
    int64_t total = span - 1;
    if (stride != 1) {
      if (ShapedType::isDynamic(sizes[i]))
        return node.unsupported("auto_pad " + autoPad +
                                " with a dynamic spatial dimension; fix it "
                                "with --shape");
      int64_t out = (sizes[i] + stride - 1) / stride;
      total = std::max<int64_t>(0, (out - 1) * stride + span - sizes[i]);
    }
    int64_t less = total / 2, more = total - less;
    window.pads[i] = autoPad == "SAME_UPPER" ? less : more;
    window.pads[n + i] = autoPad == "SAME_UPPER" ? more : less;
  }
  return success();
}

LogicalResult legalize::resolveCeilMode(Node &node, WindowAttributes &window,
                                        ArrayRef<int64_t> sizes) {
  if (node.getInt("ceil_mode", 0) == 0)
    return success();
  size_t n = window.size();
  for (size_t i = 0; i < n; ++i) {
    int64_t stride = window.strides[i];
    if (stride == 1)
      continue;
    if (ShapedType::isDynamic(sizes[i]))
      return node.unsupported("ceil_mode with a dynamic spatial dimension; fix "
                              "it with --shape");
    int64_t begin = window.pads[i], &end = window.pads[n + i];
    int64_t room = sizes[i] + begin + end - window.span(i);
    if (room < 0)
      return node.invalid("the dilated kernel is larger than the padded input");
    int64_t out = (room + stride - 1) / stride + 1;
    // A last window that starts in the end padding is left out.
    if ((out - 1) * stride >= sizes[i] + begin)
      --out;
    int64_t needed = (out - 1) * stride + window.span(i) - sizes[i] - begin;
    end = std::max(needed, std::min(end, needed + stride - 1));
  }
  return success();
}
