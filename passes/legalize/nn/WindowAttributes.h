//===- WindowAttributes.h - attributes of convolution -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_NN_WINDOWATTRIBUTES_H
#define INGOT_PASSES_LEGALIZE_NN_WINDOWATTRIBUTES_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// Attributes of an operator that slides a window over spatial dimensions,
/// complete and checked. `pads` lists all begins, then all ends.
struct WindowAttributes {
  SmallVector<int64_t> kernel, strides, dilations, pads;

  size_t size() const { return kernel.size(); }
  /// Returns the number of elements that the dilated kernel covers.
  int64_t span(size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};

/// Reads strides, dilations and explicit pads. `resolveAutoPad` reads auto_pad.
/// Reports wrong lengths, and values outside of [1, 2^31).
FailureOr<WindowAttributes> readWindow(Node &node, ArrayRef<int64_t> kernel);

/// Pads x with `fill`, a scalar tensor. The pad sizes are not negative.
Value padBy(Node &node, Value x, Value fill, ArrayRef<OpFoldResult> low,
            ArrayRef<OpFoldResult> high);

/// Computes the pads of auto_pad, and returns the data `x`. If a dynamic
/// dimension decides a pad, the function pads the data itself. It pads with
/// `fill`, a scalar tensor, or with zeros if `fill` is null.
FailureOr<Value> resolveAutoPad(Node &node, WindowAttributes &window, Value x,
                                Value fill = {});

/// Adjusts the end pads so that rounding down gives the result size that
/// ceil_mode specifies for the data `x`. A dynamic dimension may then get one
/// window too many. If so, `sizes` become the spatial sizes to which results
/// must be cut.
LogicalResult resolveCeilMode(Node &node, WindowAttributes &window, Value x,
                              Sizes &sizes);

/// Cuts the spatial dimensions of `y` to `sizes`. Empty `sizes` cut nothing.
Value cutWindows(Node &node, Value y, ArrayRef<OpFoldResult> sizes);

/// Creates a convolution of these operands with the node's attributes. If a
/// dynamic size determines the pads, x is padded with `fill`, or with zeros if
/// `fill` is null.
FailureOr<Value> convolve(Node &node, Value x, Value w, Value bias,
                          Value fill = {});

/// Creates a mean over windows of `x`, which has its channels first, with the
/// node's attributes.
FailureOr<Value> averagePool(Node &node, Value x);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_NN_WINDOWATTRIBUTES_H
