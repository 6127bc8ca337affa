//===- Convolution.cpp - Conv, ConvTranspose ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Legalize.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// The explicit pads of a windowed node whose spatial input sizes are `sizes`.
static FailureOr<SmallVector<int64_t>>
resolvePads(Node &node, ArrayRef<int64_t> sizes, ArrayRef<int64_t> kernel,
            ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations) {
  size_t n = kernel.size();
  StringRef autoPad = node.getString("auto_pad", "NOTSET");
  SmallVector<int64_t> pads = node.getInts("pads").value_or(
      SmallVector<int64_t>(2 * n, 0));
  if (autoPad == "NOTSET")
    return pads;
  pads.assign(2 * n, 0);
  if (autoPad == "VALID")
    return pads;
  if (autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER")
    return node.invalid("auto_pad is " + autoPad);
  for (size_t i = 0; i < n; ++i) {
    if (ShapedType::isDynamic(sizes[i]) && strides[i] != 1)
      return node.unsupported("auto_pad " + autoPad +
                              " with a dynamic spatial dimension; fix it with "
                              "--shape");
    int64_t span = dilations[i] * (kernel[i] - 1) + 1;
    int64_t total = span - 1;
    if (strides[i] != 1) {
      int64_t out = (sizes[i] + strides[i] - 1) / strides[i];
      total = std::max<int64_t>(0, (out - 1) * strides[i] + span - sizes[i]);
    }
    int64_t less = total / 2, more = total - less;
    pads[i] = autoPad == "SAME_UPPER" ? less : more;
    pads[n + i] = autoPad == "SAME_UPPER" ? more : less;
  }
  return pads;
}

static LogicalResult legalizeConv(Node &node) {
  RankedTensorType x = node.type(0), w = node.type(1);
  if (x.getRank() < 3 || w.getRank() != x.getRank())
    return node.invalid("data and weights need one rank of at least 3, but got " +
                        Twine(x.getRank()) + " and " + Twine(w.getRank()));
  ArrayRef<int64_t> kernel = w.getShape().drop_front(2);
  size_t n = kernel.size();
  SmallVector<int64_t> ones(n, 1);
  auto strides = node.getInts("strides").value_or(ones);
  auto dilations = node.getInts("dilations").value_or(ones);
  if (strides.size() != n || dilations.size() != n)
    return node.invalid("strides and dilations need " + Twine(n) + " elements");
  auto pads = resolvePads(node, x.getShape().drop_front(2), kernel, strides,
                          dilations);
  if (failed(pads))
    return failure();
  auto y = node.infer<nn::ConvOp>(
      node.input(0), node.input(1), node.input(2), strides, *pads, dilations,
      node.getInt("group", 1), /*channels_last=*/false);
  return failed(y) ? failure() : node.replace(*y);
}

void legalize::populateConvolution(Legalizers &legalizers) {
  legalizers.add("Conv", legalizeConv);
}
