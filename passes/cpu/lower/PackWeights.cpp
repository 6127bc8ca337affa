//===- PackWeights.cpp - weights in panels --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/lower/PackWeights.h"

#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "dialects/nn/Constants.h"
#include "passes/support/ConstantPacker.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cassert>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

std::optional<ArrayRef<char>> cpu::findBytes(Value value,
                                             std::vector<char> &storage) {
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  ElementsAttr constant = nn::getConstant(value);
  return constant ? nn::getRawBytes(constant, storage) : std::nullopt;
}

int64_t cpu::panelWidth(int64_t channels) {
  assert(channels > 0 && "kernels have no empty tensors");
  int64_t least = llvm::alignTo(channels, 16);
  return int64_t(llvm::alignTo(channels, 32)) * 8 <= least * 9 ? 32 : 16;
}

namespace {

/// The order of elements in a panel.
struct PanelLayout {
  PanelLayout(Type element, Type src, int64_t depth, int64_t width)
      : group(element.isF16() && src != element ? 1 : cpu::groupOf(element)),
        groups(llvm::divideCeil(depth, group)),
        width(width) {}

  int64_t at(int64_t k, int64_t column) const {
    return (k / group * width + column) * group + k % group;
  }
  int64_t size() const { return groups * width * group; }
  void addDims(SmallVectorImpl<int64_t> &shape) const {
    shape.append({groups, width});
    if (group > 1)
      shape.push_back(group);
  }

  int64_t group, groups, width;
};

} // namespace

ElementsAttr cpu::roundToF16(ElementsAttr weights) {
  ShapedType type = weights.getShapedType();
  ConstantPacker packer(weights, type.getShape(),
                        Float16Type::get(type.getContext()));
  for (int64_t i = 0; packer.isValid() && i < type.getNumElements(); ++i)
    packer.copy(i, i);
  return packer.take();
}

std::optional<double> cpu::findBeyondF16(ElementsAttr weights) {
  // The midpoint between the largest f16 and the next power of two. From this
  // value on, rounding gives infinity.
  constexpr float kInfinite = 65520;
  // The limit below which f16 has a relative error of 2^-10 or more. The error
  // of bf16 is 2^-9 at most.
  constexpr float kSmallest = 0x1p-15f;
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes = nn::getRawBytes(weights, storage);
  float largest = 0;
  for (size_t at = 0; bytes && at < bytes->size(); at += sizeof(float)) {
    float number;
    std::memcpy(&number, &(*bytes)[at], sizeof(number));
    if (!(std::abs(number) < kInfinite))
      return number;
    largest = std::max(largest, std::abs(number));
  }
  return largest > 0 && largest < kSmallest ? std::optional<double>(largest)
                                            : std::nullopt;
}

ElementsAttr cpu::packConvWeights(ElementsAttr weights, int64_t groups,
                                  Type element, Type src) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  assert(shape.size() > 2 && groups > 0 && shape[0] % groups == 0 &&
         "the op's verifier knows groups");
  ArrayRef<int64_t> kernel = shape.drop_front(2);
  int64_t outputs = shape[0] / groups, inputs = shape[1];
  int64_t width = panelWidth(outputs), taps = productOf(kernel);
  int64_t panels = llvm::divideCeil(outputs, width);
  SmallVector<int64_t> packed = {groups * panels};
  llvm::append_range(packed, kernel);
  PanelLayout layout(element, src, inputs, width);
  layout.addDims(packed);
  ConstantPacker packer(weights, packed, element);
  if (!packer.isValid())
    return {};
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t o = 0; o < outputs; ++o) {
      int64_t panel = g * panels + o / width;
      int64_t row = (g * outputs + o) * inputs;
      for (int64_t t = 0; t < taps; ++t)
        for (int64_t c = 0; c < inputs; ++c)
          packer.copy((row + c) * taps + t,
                      (panel * taps + t) * layout.size() +
                          layout.at(c, o % width));
    }
  return packer.take();
}

ElementsAttr cpu::packWinogradWeights(ElementsAttr weights, int64_t outputs) {
  constexpr int64_t kTaps = cpu::Winograd::kTaps;
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  assert(weights.getElementType().isF32() && shape.size() == 4 &&
         shape[2] == kTaps && shape[3] == kTaps && "3x3 taps of f32");
  std::vector<char> storage;
  std::optional<ArrayRef<char>> source = nn::getRawBytes(weights, storage);
  if (!source)
    return {};
  cpu::Winograd transform(outputs);
  int64_t points = transform.points(), inputs = shape[1];
  int64_t width = panelWidth(shape[0]);
  int64_t panels = llvm::divideCeil(shape[0], width);
  SmallVector<double> filter;
  for (int64_t point = 0; point < points; ++point)
    for (int64_t k = 0; k < kTaps; ++k)
      filter.push_back(transform.filter(point, k));
  auto type = RankedTensorType::get(
      {panels, points * points, inputs, width}, weights.getElementType());
  std::vector<char> packed(type.getNumElements() * sizeof(float), 0);
  for (int64_t o = 0; o < shape[0]; ++o)
    for (int64_t c = 0; c < inputs; ++c) {
      float taps[kTaps * kTaps];
      std::memcpy(taps, &(*source)[(o * inputs + c) * sizeof(taps)],
                  sizeof(taps));
      for (int64_t y = 0; y < points; ++y)
        for (int64_t x = 0; x < points; ++x) {
          double sum = 0;
          for (int64_t i = 0; i < kTaps; ++i)
            for (int64_t j = 0; j < kTaps; ++j)
              sum += filter[y * kTaps + i] * filter[x * kTaps + j] *
                     double(taps[i * kTaps + j]);
          auto value = float(sum);
          int64_t row = (o / width * points + y) * points + x;
          int64_t at = (row * inputs + c) * width + o % width;
          std::memcpy(&packed[at * sizeof(value)], &value, sizeof(value));
        }
    }
  return nn::makeConstantAttr(type, std::move(packed));
}

ElementsAttr cpu::packCompensation(ElementsAttr weights, int64_t groups,
                                   int64_t zeroPoint) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  int64_t outputs = shape[0] / groups, inputs = shape[1], along = shape.back();
  int64_t width = panelWidth(outputs);
  int64_t panels = llvm::divideCeil(outputs, width);
  int64_t rows = productOf(shape.drop_front(2).drop_back());
  std::vector<char> storage;
  std::optional<ArrayRef<char>> source = nn::getRawBytes(weights, storage);
  if (!source)
    return {};
  // Sums as unsigned integers, which wrap around like the sums of the kernel.
  std::vector<uint32_t> sums(groups * panels * rows * width, 0);
  const int64_t size = nn::elementBytes(weights.getElementType());
  assert(size <= 2 && "bytes or words");
  const char *weight = source->data();
  auto next = [&] {
    int16_t word = int8_t(*weight);
    if (size == 2)
      std::memcpy(&word, weight, size);
    weight += size;
    return word;
  };
  for (int64_t o = 0; o < groups * outputs; ++o) {
    int64_t column = o % outputs;
    int64_t panel = o / outputs * panels + column / width;
    for (int64_t c = 0; c < inputs; ++c)
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t tap = 0; tap < along; ++tap)
          sums[(panel * rows + row) * width + column % width] -=
              uint32_t(zeroPoint) * uint32_t(int32_t(next()));
  }
  SmallVector<int64_t> packed = {groups * panels};
  llvm::append_range(packed, shape.drop_front(2).drop_back());
  packed.push_back(width);
  std::vector<char> bytes(sums.size() * sizeof(uint32_t));
  std::memcpy(bytes.data(), sums.data(), bytes.size());
  return nn::makeConstantAttr(
      RankedTensorType::get(packed, IntegerType::get(weights.getContext(), 32)),
      std::move(bytes));
}

ElementsAttr cpu::packDepthwiseWeights(ElementsAttr weights) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  assert(shape.size() > 2 && shape[1] == 1 && "one input channel a group");
  int64_t channels = shape[0], taps = productOf(shape.drop_front(2));
  SmallVector<int64_t> packed(shape.drop_front(2));
  packed.push_back(channels);
  ConstantPacker packer(weights, packed, weights.getElementType());
  if (!packer.isValid())
    return {};
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t t = 0; t < taps; ++t)
      packer.copy(c * taps + t, t * channels + c);
  return packer.take();
}

ElementsAttr cpu::packGroupedWeights(ElementsAttr weights) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  int64_t channels = shape[0], size = shape[1];
  int64_t taps = productOf(shape.drop_front(2));
  SmallVector<int64_t> packed(shape.drop_front(2));
  packed.push_back(size * channels);
  ConstantPacker packer(weights, packed, weights.getElementType());
  if (!packer.isValid())
    return {};
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t m = 0; m < size; ++m)
      for (int64_t t = 0; t < taps; ++t)
        packer.copy((c * size + m) * taps + t,
                    (t * size + m) * channels + c);
  return packer.take();
}

ElementsAttr cpu::packMatMulWeights(ElementsAttr weights, bool transposed,
                                    Type element, Type src) {
  ArrayRef<int64_t> shape = weights.getShapedType().getShape();
  assert(shape.size() >= 2 && "a matrix, or several");
  int64_t depth = shape[shape.size() - 2], columns = shape.back();
  if (transposed)
    std::swap(depth, columns);
  int64_t width = panelWidth(columns);
  int64_t panels = llvm::divideCeil(columns, width);
  SmallVector<int64_t> packed(shape.drop_back(2));
  packed.push_back(panels);
  PanelLayout layout(element, src, depth, width);
  layout.addDims(packed);
  ConstantPacker packer(weights, packed, element);
  if (!packer.isValid())
    return {};
  int64_t batches = productOf(shape.drop_back(2));
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t j = 0; j < columns; ++j) {
        int64_t from = transposed ? j * depth + k : k * columns + j;
        int64_t to = (b * panels + j / width) * layout.size() +
                     layout.at(k, j % width);
        packer.copy(b * depth * columns + from, to);
      }
  return packer.take();
}
