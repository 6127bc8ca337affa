//===- SizeReport.cpp - bytes of a model and of its artifact --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/SizeReport.h"

#include "dialects/cpu/CpuDialect.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "dialects/nn/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;

uint64_t ingot::countConstantBytes(ModuleOp module) {
  uint64_t bytes = 0;
  llvm::DenseSet<Attribute> seen;
  module.walk([&](arith::ConstantOp op) {
    auto value = dyn_cast<ElementsAttr>(op.getValue());
    if (value && seen.insert(value).second)
      bytes += uint64_t(value.getNumElements()) *
               nn::elementBytes(value.getElementType());
  });
  return bytes;
}

/// Returns the offset of a constant in the weights, or nothing.
static std::optional<APInt> offsetOf(Value weights) {
  auto view = weights.getDefiningOp<memref::ViewOp>();
  APInt offset;
  if (!view || !matchPattern(view.getByteShift(), m_ConstantInt(&offset)))
    return std::nullopt;
  return offset;
}

void ingot::countFewerProducts(ModuleOp module, SizeReport &report) {
  constexpr int64_t kTaps = cpu::Winograd::kTaps * cpu::Winograd::kTaps;
  llvm::DenseSet<APInt> seen;
  module.walk([&](cpu::WinogradConvOp op) {
    ++report.numFewerProducts;
    std::optional<APInt> offset = offsetOf(op.getWeights());
    if (offset && !seen.insert(*offset).second)
      return;
    auto type = cast<ShapedType>(op.getWeights().getType());
    int64_t positions = cpu::Winograd(op.getFormat().getOutputs()).positions();
    report.fewerProducts += uint64_t(type.getNumElements() / positions) *
                            (positions - kTaps) *
                            nn::elementBytes(type.getElementType());
  });
}
