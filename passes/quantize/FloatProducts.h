//===- FloatProducts.h - what is as fast in floats --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_FLOATPRODUCTS_H
#define INGOT_PASSES_QUANTIZE_FLOATPRODUCTS_H

#include "dialects/nn/NNDialect.h"

namespace ingot::quantize {

/// Floats that a second-level cache holds beside what is made of them.
constexpr int64_t kFloatsInCache = 1 << 17;

/// Rows of words from which on they are multiplied as pairs of bytes.
constexpr int64_t kRowsOfPairs = 32;

/// Whether kernels multiply a product of bytes with constant weights no faster
/// than the same of floats, so that bytes only cost their rounding: by its
/// channels, terms and sizes. `ofInput` if its data are what the model is given
/// as floats, `asWords` if bytes are multiplied as words.
bool isAsFastInFloats(mlir::Operation *product, bool ofInput, bool asWords);

/// Whether floats of a convolution take fewer products: of 3×3 taps over at
/// least so many pixels, or over an open number of them.
bool takesFewerProducts(nn::ConvOp conv, int64_t leastPixels);

/// The share of taps of the first `dims` dimensions that lie on pixels; those
/// of floats that lie in the padding are left out.
double shareOfTaps(nn::ConvOp conv, size_t dims);

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_FLOATPRODUCTS_H
