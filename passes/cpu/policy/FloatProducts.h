//===- FloatProducts.h - products that floats suit better -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_POLICY_FLOATPRODUCTS_H
#define INGOT_PASSES_CPU_POLICY_FLOATPRODUCTS_H

#include "dialects/nn/NNDialect.h"
#include "passes/cpu/policy/Machine.h"
#include "passes/support/Reason.h"

namespace ingot::cpu {

/// Says why floats are as fast as bytes in `product`, whose weights must be
/// constant. The reason may be its channels, its terms or its sizes. `ofInput`
/// is true if the model receives the data as floats.
Reason whyAsFastInFloats(mlir::Operation *product, bool ofInput,
                         const Machine &machine);

/// Returns true if Winograd's algorithm saves products of floats. This needs
/// 3x3 taps over at least `leastPixels` pixels, or over an open number of
/// pixels.
bool takesFewerProducts(nn::ConvOp conv, int64_t leastPixels);

/// Returns the share of taps of the first `dims` dimensions that lie on pixels.
/// Floats skip the taps in the padding.
double shareOfTaps(nn::ConvOp conv, size_t dims);

/// Says why the kernel of a convolution converts bytes to floats before it
/// multiplies. The convolution, or each of its groups, has few channels, or it
/// is depthwise with many taps.
Reason whyBytesAsFloats(nn::ConvOp conv);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_FLOATPRODUCTS_H
