//===- SizeSymbols.h - symbols that sizes are written in --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_SIZESYMBOLS_H
#define INGOT_DIALECTS_NN_SIZESYMBOLS_H

namespace ingot::nn {

/// First symbol for values that a run computes. They may be negative. Smaller
/// symbols are dimensions of tensors.
constexpr unsigned kFirstComputed = 1u << 30;

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SIZESYMBOLS_H
