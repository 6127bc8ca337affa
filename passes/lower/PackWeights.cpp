//===- PackWeights.cpp - weights in panels --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/PackWeights.h"

#include "dialects/nn/Constants.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace ingot;

int64_t lower::panelWidth(int64_t channels) {
  int64_t least = llvm::alignTo(channels, 16);
  return int64_t(llvm::alignTo(channels, 32)) * 8 <= least * 9 ? 32 : 16;
}

namespace {

/// The elements of a packed tensor, filled one by one.
struct Packer {
  Packer(ElementsAttr weights, ArrayRef<int64_t> shape)
      : type(RankedTensorType::get(shape, weights.getElementType())),
        elementBytes(nn::elementBytes(weights.getElementType())),
        source(nn::getRawBytes(weights, storage)),
        packed(source ? type.getNumElements() * elementBytes : 0, 0) {}

  void copy(int64_t from, int64_t to) {
    std::memcpy(&packed[to * elementBytes], source->data() + from * elementBytes,
                elementBytes);
  }
  ElementsAttr take() {
    return source ? nn::makeConstantAttr(type, std::move(packed))
                  : ElementsAttr();
  }

  RankedTensorType type;
  int64_t elementBytes;
  std::vector<char> storage;
  std::optional<ArrayRef<char>> source;
  std::vector<char> packed;
};

} // namespace

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

ElementsAttr lower::packConvWeights(ElementsAttr weights, int64_t groups) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  ArrayRef<int64_t> kernel = shape.drop_front(2);
  int64_t outputs = shape[0] / groups, inputs = shape[1];
  int64_t width = panelWidth(outputs), taps = product(kernel);
  int64_t panels = llvm::divideCeil(outputs, width);
  SmallVector<int64_t> packed = {groups * panels};
  llvm::append_range(packed, kernel);
  packed.append({inputs, width});
  Packer packer(weights, packed);
  if (!packer.source)
    return {};
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t o = 0; o < outputs; ++o) {
      int64_t panel = g * panels + o / width;
      int64_t row = (g * outputs + o) * inputs;
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t c = 0; c < inputs; ++c)
          packer.copy((row + c) * taps + t,
                      ((panel * taps + t) * inputs + c) * width + o % width);
    }
  return packer.take();
}

ElementsAttr lower::packDepthwiseWeights(ElementsAttr weights) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  int64_t channels = shape[0], taps = product(shape.drop_front(2));
  SmallVector<int64_t> packed(shape.drop_front(2));
  packed.push_back(channels);
  Packer packer(weights, packed);
  if (!packer.source)
    return {};
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      packer.copy(c * taps + t, t * channels + c);
  return packer.take();
}

ElementsAttr lower::packMatMulWeights(ElementsAttr weights, bool transposed) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  int64_t depth = shape[shape.size() - 2], columns = shape.back();
  if (transposed)
    std::swap(depth, columns);
  int64_t width = panelWidth(columns);
  int64_t panels = llvm::divideCeil(columns, width);
  SmallVector<int64_t> packed(shape.drop_back(2));
  packed.append({panels, depth, width});
  Packer packer(weights, packed);
  if (!packer.source)
    return {};
  int64_t batches = product(shape.drop_back(2));
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t from = transposed ? j * depth + k : k * columns + j;
        int64_t to =
            ((b * panels + j / width) * depth + k) * width + j % width;
        packer.copy(b * depth * columns + from, to);
      }
  return packer.take();
}
