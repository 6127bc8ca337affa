//===- Window.h - attributes of convolution and pooling -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_NN_WINDOW_H
#define INGOT_PASSES_LEGALIZE_NN_WINDOW_H

#include "passes/legalize/core/Helpers.h"

namespace ingot::legalize {

/// The attributes of an operator that slides a window over the spatial
/// dimensions, complete and checked. `pads` lists all begins, then all ends.
struct WindowAttributes {
  SmallVector<int64_t> kernel, strides, dilations, pads;

  size_t size() const { return kernel.size(); }
  /// Elements that the dilated kernel covers.
  int64_t span(size_t i) const { return dilations[i] * (kernel[i] - 1) + 1; }
};

/// Reads strides, dilations and explicit pads; auto_pad is left to
/// `resolveAutoPad`. Reports wrong lengths, and values outside of [1, 2^31).
FailureOr<WindowAttributes> readWindow(Node &node, ArrayRef<int64_t> kernel);

/// x with borders of `fill`, a scalar tensor, of sizes that are not negative.
Value padBy(Node &node, Value x, Value fill, ArrayRef<OpFoldResult> low,
            ArrayRef<OpFoldResult> high);

/// Replaces pads where auto_pad says so, and returns the data, `x`. Where an
/// open dimension decides how much is padded, that is done here: with `fill`, a
/// scalar tensor, or zeros if it is null.
FailureOr<Value> resolveAutoPad(Node &node, WindowAttributes &window, Value x,
                                Value fill = {});

/// Adjusts the end pads so that rounding the result's size down gives what
/// ceil_mode wants of the data `x`. In an open dimension there may be a window
/// too many then: `sizes` are those that the results are cut to, if any is.
LogicalResult resolveCeilMode(Node &node, WindowAttributes &window, Value x,
                              Sizes &sizes);

/// `y` cut to `sizes` at the end of its spatial dimensions, if there are any.
Value cutWindows(Node &node, Value y, ArrayRef<OpFoldResult> sizes);

/// A convolution with the node's attributes, on these operands. `fill` is what
/// x is padded with where an open size says how much; null stands for zero.
FailureOr<Value> convolve(Node &node, Value x, Value w, Value bias,
                          Value fill = {});

/// A mean over windows of `x`, channels first, with the node's attributes.
FailureOr<Value> averagePool(Node &node, Value x);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_NN_WINDOW_H
