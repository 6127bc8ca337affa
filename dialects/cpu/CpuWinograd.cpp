//===- CpuWinograd.cpp - Winograd convolution -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

void WinogradConvOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}

StringRef WinogradConvOp::getKernelKind() { return "convolution"; }

// Returns the work of the direct convolution, which is more than Winograd
// computes. So the work of layers is comparable.
ingot::kernel::Work WinogradConvOp::getWork() {
  constexpr int64_t kTaps = Winograd::kTaps * Winograd::kTaps;
  return workPerElement(
      getDst(), {2, kTaps, typeOf(getSrc()).getShape().back()});
}

/// Verifies that the size of dst is the number of windows that fit into a
/// padded dimension of src.
static LogicalResult verifyWindowCount(WinogradConvOp op, int64_t d) {
  int64_t size = typeOf(op.getSrc()).getDimSize(1 + d);
  if (ShapedType::isDynamic(size))
    return success();
  int64_t windows =
      size + op.getPads()[d] + op.getPads()[2 + d] - (Winograd::kTaps - 1);
  return expectSize(op, "dst dimension " + Twine(1 + d),
                    std::max<int64_t>(windows, 0),
                    typeOf(op.getDst()).getDimSize(1 + d));
}

LogicalResult WinogradConvOp::verify() {
  if (failed(verifyFormat(*this, getFormat(), WeightsKind::winograd)))
    return failure();
  for (auto [name, value] : {std::pair("src", getSrc()),
                             {"weights", getWeights()},
                             {"dst", getDst()}})
    if (failed(expectRank(*this, name, value, 4)))
      return failure();
  if (Type element = typeOf(getSrc()).getElementType(); !element.isF32())
    return emitOpError("expects src of f32, but got ") << element;
  Type element = typeOf(getWeights()).getElementType();
  if (!element.isF32() && !element.isF16())
    return emitOpError("expects weights of f32 or f16, but got ") << element;
  Block &body = getEpilogue().front();
  if (body.getNumArguments() != 0 && !body.getArgument(0).getType().isF32())
    return emitOpError("expects a sum of f32, but got ")
           << body.getArgument(0).getType();
  if (failed(expectKnown(*this, "channels of src",
                         typeOf(getSrc()).getShape().back())) ||
      failed(expectKnown(*this, "channels of dst",
                         typeOf(getDst()).getShape().back())) ||
      failed(expectKnown(*this, "weights", typeOf(getWeights()).getShape())) ||
      failed(expectCount(*this, "pads", getPads(), 4)))
    return failure();
  for (int64_t pad : getPads())
    if (pad < 0)
      return emitOpError("expects pads of at least 0, but got ") << pad;
  PackedWeights weights(getWeights());
  if (failed(expectSize(*this, "points of weights",
                        Winograd(getFormat().getOutputs()).positions(),
                        weights.outer[1])))
    return failure();
  if (weights.width != 16 && weights.width != 32 && weights.width != 64)
    return emitOpError("expects panels of 16, 32 or 64 channels, but got ")
           << weights.width;
  int64_t outputs = typeOf(getDst()).getDimSize(3);
  if (failed(expectSize(*this, "src channels", weights.depth,
                        typeOf(getSrc()).getDimSize(3))) ||
      failed(expectSize(*this, "weight panels",
                        llvm::divideCeil(outputs, weights.width),
                        weights.outer[0])) ||
      failed(expectSize(*this, "dst batch", typeOf(getSrc()).getDimSize(0),
                        typeOf(getDst()).getDimSize(0))) ||
      failed(verifyWindowCount(*this, 0)) ||
      failed(verifyWindowCount(*this, 1)) ||
      failed(verifyDst(*this, getDst())))
    return failure();
  return verifyEpilogue(*this, getDst());
}

bool ConvOp::mayFilterBytes() {
  PackedWeights weights(getWeights());
  auto is = [](ArrayRef<int64_t> values, int64_t value) {
    return llvm::all_of(values, [&](int64_t v) { return v == value; });
  };
  return weights.element.isInteger(8) && weights.outer.size() == 3 &&
         is(weights.outer.drop_front(), Winograd::kTaps) &&
         is(getStrides(), 1) && is(getDilations(), 1) && getGroups() == 1 &&
         typeOf(getSrc()).getShape().back() == weights.depth;
}

LogicalResult checks::verifyWinogradConv(ConvOp op) {
  if (op.getFormat().getExactTiles() == 0 || op.mayFilterBytes())
    return success();
  return op.emitOpError("expects exact_tiles for bytes only, of 3x3 taps "
                        "without strides, dilations or groups, and channels in "
                        "groups of 4");
}
