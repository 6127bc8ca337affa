//===- FloatProducts.h - what is as fast in floats --------------*- C++ -*-===//
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

/// Returns why kernels multiply floats as fast as bytes in `product`, which has
/// constant weights: its channels, terms or sizes. `ofInput` is true if the
/// model is given the data as floats.
Reason whyAsFastInFloats(mlir::Operation *product, bool ofInput,
                         const Machine &machine);

/// Returns true if floats of a convolution take fewer products: 3x3 taps over
/// at least so many pixels, or over an open number of them.
bool takesFewerProducts(nn::ConvOp conv, int64_t leastPixels);

/// The share of taps of the first `dims` dimensions that lie on pixels. Floats
/// leave out the taps in the padding.
double shareOfTaps(nn::ConvOp conv, size_t dims);

/// Why a convolution of bytes is multiplied as floats that hold the bytes: it,
/// or each of its groups, has few channels.
Reason whyBytesAsFloats(nn::ConvOp conv);

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_POLICY_FLOATPRODUCTS_H
