//===- Convolutions.h - kinds of convolutions -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definitions of kinds of convolutions that shared passes and backends use.
// They are facts of an operation, not of a machine.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_CONVOLUTIONS_H
#define INGOT_PASSES_SUPPORT_CONVOLUTIONS_H

#include "dialects/nn/NNDialect.h"
#include "passes/support/Reason.h"

namespace ingot::support {

/// Returns true if each of several groups has one input channel. `weights` are
/// the sizes `O, C, taps…`.
inline bool haveSingleChannels(llvm::ArrayRef<int64_t> weights,
                               int64_t groups) {
  return groups > 1 && weights[1] == 1;
}
bool hasSingleChannels(nn::ConvOp op);
bool hasSingleChannels(nn::ConvTransposeOp op);

/// Returns true if each of several groups has one input channel and one output
/// channel: a depthwise convolution.
inline bool areDepthwise(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  return haveSingleChannels(weights, groups) && weights[0] == groups;
}
bool isDepthwise(nn::ConvOp op);

/// Returns true if each of several groups has one input channel and several
/// output channels. Repeated input channels make it depthwise.
inline bool areRepeated(llvm::ArrayRef<int64_t> weights, int64_t groups) {
  return haveSingleChannels(weights, groups) && weights[0] > groups;
}

/// Returns why `op` is not a convolution that Winograd's algorithm computes.
/// Such a convolution is 3x3, with stride 1, no dilation and one group.
Reason whyNotThreeByThree(nn::ConvOp op);

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_CONVOLUTIONS_H
