//===- FloatSums.h - convolutions of bytes as floats ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_QUANT_FLOATSUMS_H
#define INGOT_PASSES_LEGALIZE_QUANT_FLOATSUMS_H

#include "passes/legalize/quant/Requantize.h"

namespace ingot::legalize {

/// Returns constant weights less their zero points, in f32. Returns null if
/// they are computed.
Value floatWeights(Node &node, ByteInputs w);

/// Convolves integers that f32 holds, with the node's attributes. Returns exact
/// i32 sums. `data` are bytes less their zero point, and `weights` are constant
/// bytes less theirs, both in f32; the data are at most `most`. If f32 does not
/// hold the sums of a whole window, parts of the window become convolutions
/// whose sums are added. Returns null if the taps of one index have too large
/// sums.
mlir::FailureOr<Value> convolveAsFloats(Node &node, Value data, Value weights,
                                        double most);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_QUANT_FLOATSUMS_H
