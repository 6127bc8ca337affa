//===- ResizeFilter.cpp - antialiasing filter of Resize -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/vision/Resize.h"

#include "passes/support/FilterWeight.h"
#include "passes/support/ResampledBand.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

using support::Sampling;

static double positionAt(nn::Coordinates coordinates, double scale,
                         int64_t from, int64_t to, int64_t at) {
  switch (coordinates) {
  case nn::Coordinates::half_pixel:
    return (at + 0.5) / scale - 0.5;
  case nn::Coordinates::half_pixel_symmetric: {
    double adjustment = to / (from * scale);
    return from / 2.0 * (1 - adjustment) + (at + 0.5) / scale - 0.5;
  }
  case nn::Coordinates::pytorch_half_pixel:
    return to > 1 ? (at + 0.5) / scale - 0.5 : 0;
  case nn::Coordinates::align_corners:
    return to > 1 ? double(at) * (from - 1) / (to - 1) : 0;
  case nn::Coordinates::asymmetric:
    return at / scale;
  }
  return at;
}

FailureOr<Value> legalize::filterKnown(Node &node, const Sampling &sampling,
                                       Value x, const ResizedAxis &axis,
                                       int64_t from, int64_t to) {
  double scale = *axis.knownScale, narrow = std::min(scale, 1.0);
  std::vector<double> weights(to * from, 0);
  for (int64_t o = 0; o < to; ++o) {
    double position =
        positionAt(sampling.coordinates, scale, from, to, o);
    double left = std::ceil(position) - 1, total = 0;
    int64_t first = std::floor(-support::reachOf(sampling.mode) / narrow) + 1;
    double *row = &weights[o * from];
    for (int64_t k = first; k <= 1 - first; ++k) {
      int64_t at = int64_t(left) + k,
              held = std::clamp<int64_t>(at, 0, from - 1);
      if (sampling.excludeOutside && at != held)
        continue;
      Doubles arithmetic;
      double weight = support::filterWeight(arithmetic, sampling,
                                            std::abs((at - position) * narrow));
      row[held] += weight;
      total += weight;
    }
    for (int64_t i = 0; i < from; ++i)
      row[i] /= total;
  }
  Value matrix = nn::makeConstant(
      node.builder, node.loc(),
      RankedTensorType::get({to, from}, node.builder.getF32Type()), weights);
  Sizes sizes = sizesOf(node, x);
  bool isLast = axis.axis + 1 == int64_t(sizes.size());
  OpFoldResult outer = sizeAttr(node, 1), inner = outer;
  for (auto [d, size] : llvm::enumerate(sizes))
    if (int64_t(d) != axis.axis)
      (int64_t(d) < axis.axis ? outer : inner) =
          mulSizes(node, int64_t(d) < axis.axis ? outer : inner, size);
  FailureOr<Value> y = failure();
  if (isLast)
    y = node.infer<nn::MatMulOp>(
        reshape(node, x, {outer, sizeAttr(node, from)}), matrix, Value(), false,
        /*transpose_b=*/true);
  else
    y = node.infer<nn::MatMulOp>(
        matrix, reshape(node, x, {outer, sizeAttr(node, from), inner}),
        Value(), false, false);
  if (failed(y))
    return failure();
  sizes[axis.axis] = sizeAttr(node, to);
  return reshape(node, *y, sizes);
}
