//===- EvaluateQuantize.cpp - quantizing constants ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/EvaluateImpl.h"
#include "dialects/nn/NNDialect.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace ingot;

ElementsAttr nn::evaluateQuantize(Operation *op,
                                  ArrayRef<ElementsAttr> operands,
                                  RankedTensorType type) {
  auto quantize = dyn_cast<QuantizeOp>(op);
  auto to = dyn_cast<IntegerType>(type.getElementType());
  if (!quantize || !to || to.getWidth() > 32 ||
      !operands[0].getElementType().isF32() ||
      !operands[1].getElementType().isF32() ||
      cast<ShapedType>(operands[1].getType()).getRank() > 1)
    return {};
  std::optional<std::vector<double>> x = readDoubles(operands[0]),
                                     scales = readDoubles(operands[1]);
  std::optional<SmallVector<int64_t>> zeros = SmallVector<int64_t>{0};
  if (operands.size() > 2)
    zeros = readInts(operands[2]);
  if (!x || !scales || !zeros || scales->empty() || zeros->empty())
    return {};
  ArrayRef<int64_t> shape = type.getShape();
  int64_t axis = quantize.getAxis(), behind = 1, count = scales->size();
  for (size_t d = axis + 1; d < shape.size(); ++d)
    behind *= shape[d];
  unsigned width = to.getWidth();
  bool isUnsigned = to.isUnsigned();
  double low = isUnsigned ? 0 : -std::ldexp(1, width - 1);
  double high = std::ldexp(1, isUnsigned ? width : width - 1) - 1;
  SmallVector<int64_t> values;
  values.reserve(x->size());
  for (auto [i, number] : llvm::enumerate(*x)) {
    int64_t entry = count == 1 ? 0 : int64_t(i) / behind % count;
    int64_t zero = (*zeros)[zeros->size() == 1 ? 0 : entry];
    // Divides and rounds in f32, ties to even, as a run does.
    float scaled = float(number) / float((*scales)[entry]);
    double near = double(std::nearbyintf(scaled)) + double(zero);
    if (std::isnan(near))
      return {};
    values.push_back(int64_t(std::clamp(near, low, high)));
  }
  return makeIntsAttr(type, values);
}
