//===- RoundedQuotient.cpp - round(x / scale) -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/form/RoundedQuotient.h"

#include "dialects/nn/Constants.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

std::optional<RoundedQuotient> RoundedQuotient::find(nn::RoundOp round) {
  auto clamp = round.getX().getDefiningOp<nn::ClampOp>();
  auto division =
      (clamp ? clamp.getX() : round.getX()).getDefiningOp<nn::DivOp>();
  std::optional<double> scale =
      division ? nn::getSplat(division.getB()) : std::nullopt;
  if (!scale || !(*scale > 0) || !std::isnormal(1 / *scale))
    return std::nullopt;
  return RoundedQuotient{clamp, division, *scale};
}

bool quantize::holdsProduct(double number, double factor) {
  return number == 0 || !std::isfinite(number) ||
         std::isnormal(float(number * factor));
}

void quantize::mergeClamps(RewriterBase &rewriter, nn::ClampOp op) {
  auto inner = op.getX().getDefiningOp<nn::ClampOp>();
  if (!inner || inner.getX().getType() != op.getX().getType())
    return;
  double min = op.getMin().convertToDouble(),
         max = op.getMax().convertToDouble();
  auto within = [&](APFloat bound) {
    return APFloat(std::clamp(bound.convertToDouble(), min, max));
  };
  rewriter.modifyOpInPlace(op, [&] {
    op.getXMutable().assign(inner.getX());
    op.setMin(within(inner.getMin()));
    op.setMax(within(inner.getMax()));
  });
}
