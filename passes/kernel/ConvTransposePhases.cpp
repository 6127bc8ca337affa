//===- ConvTransposePhases.cpp - phases of a transposed convolution -------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/ConvTransposePhases.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using kernel::StridePhase;

/// The distance between a window and a src of dynamic size, if the window must
/// not overlap src.
static constexpr int64_t kFar = int64_t(1) << 30;

/// Makes a phase without taps read only padding.
static void readPadding(StridePhase &phase) {
  phase.srcFirst = 0;
  if (phase.count.isOpen) {
    phase.srcCount = {true, 0};
    phase.numTaps = phase.dilation = 1;
    phase.padLow = kFar;
    phase.padHigh = 0;
    return;
  }
  // Use two taps, one before and one behind the only element of src.
  int64_t count = phase.count.constant;
  phase.srcCount = {false, 1};
  phase.numTaps = 2;
  phase.dilation = count + 1;
  phase.padLow = phase.padHigh = count;
}

StridePhase kernel::phaseOf(int64_t r, const PhasedWindow &window) {
  auto [srcSize, dstSize, kernel, stride, pad, dilation] = window;
  StridePhase phase;
  phase.first = r;
  bool isOpen = ShapedType::isDynamic(srcSize);
  int64_t count = llvm::divideCeilSigned(dstSize - r, stride);
  phase.count = {isOpen, isOpen ? count : std::max<int64_t>(count, 0)};
  SmallVector<int64_t> offsets;
  for (int64_t k = kernel - 1; k >= 0; --k) {
    int64_t distance = r + pad - k * dilation;
    if (distance % stride != 0)
      continue;
    int64_t t = distance / stride;
    // Skip a tap that only reads padding.
    if (!isOpen && (t + phase.count.constant <= 0 || t >= srcSize))
      continue;
    phase.taps.push_back(k);
    offsets.push_back(t);
  }
  if (offsets.empty()) {
    readPadding(phase);
    return phase;
  }
  phase.numTaps = offsets.size();
  phase.dilation = phase.numTaps > 1 ? offsets[1] - offsets[0] : 1;
  int64_t wanted = offsets.back() + phase.count.constant;
  int64_t end = std::min(isOpen ? 0 : srcSize, wanted);
  phase.srcFirst = std::max<int64_t>(0, offsets.front());
  phase.srcCount = {isOpen, end - phase.srcFirst};
  phase.padLow = phase.srcFirst - offsets.front();
  phase.padHigh = wanted - end;
  return phase;
}
