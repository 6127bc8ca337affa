//===- Elements.cpp - checks of constants ---------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Elements.h"

#include "dialects/nn/Constants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

nn::Range nn::positionsOf(int64_t size) {
  if (ShapedType::isDynamic(size))
    return {std::numeric_limits<int64_t>::min(),
            std::numeric_limits<int64_t>::max()};
  return {-size, size - 1};
}

SmallVector<int64_t> nn::placeOf(int64_t number, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> place(shape.size());
  for (size_t d = shape.size(); d-- > 0; number /= shape[d])
    place[d] = number % shape[d];
  return place;
}

int64_t nn::numberOf(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [index, size] : llvm::zip_equal(place, shape))
    number = number * size + index;
  return number;
}

std::optional<Element> nn::findOutside(Value constant,
                                       ArrayRef<nn::Range> ranges) {
  auto values = getConstantInts(constant);
  if (!values)
    return std::nullopt;
  for (auto [i, value] : llvm::enumerate(*values)) {
    if (ranges[i % ranges.size()].contains(value))
      continue;
    return Element{
        int64_t(i),
        placeOf(i, cast<RankedTensorType>(constant.getType()).getShape()),
        value};
  }
  return std::nullopt;
}

std::string nn::describeElement(StringRef name, ArrayRef<int64_t> place,
                                const Twine &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '\'' << name << "' is " << value;
  if (!place.empty()) {
    stream << " at [";
    llvm::interleaveComma(place, stream);
    stream << ']';
  }
  return text;
}

std::string nn::describeRange(nn::Range range) {
  // The dimension has no elements, so it has no positions.
  if (range.high < range.low)
    return "left out: the dimension has no elements";
  return "in [" + std::to_string(range.low) + ", " +
         std::to_string(range.high) + "]";
}
