//===- ConstantPacker.cpp - constants in another order --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/ConstantPacker.h"

#include "dialects/nn/Constants.h"

#include "llvm/ADT/bit.h"

#include <cassert>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Rounds the bits of an f32 to the nearest bf16, ties to even.
static uint16_t roundToBF16(uint32_t bits) {
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rounds the bits of an f32 to the nearest f16, ties to even.
static uint16_t roundToF16(uint32_t bits) {
  float number = llvm::bit_cast<float>(bits);
  const float size = std::abs(number);
  uint16_t sign = uint16_t(bits >> 31 << 15);
  if (!(size < 65520))
    return sign | (std::isnan(number) ? 0x7e00 : 0x7c00);
  // The spacing of f16 is 2^-10 of the value's power of two, and 2^-24 for
  // small values. This code rounds to nearest, ties to even.
  int exponent = std::max(std::ilogb(std::max(size, 0x1p-14f)), -14);
  float unit = std::ldexp(1.0f, exponent - 10);
  auto steps = uint16_t(std::nearbyint(size / unit));
  // Adds the steps, so that a carry to 2^11 steps gives the first value of
  // the next power of two.
  return sign | uint16_t(((exponent + 14) << 10) + steps);
}

ConstantPacker::ConstantPacker(ElementsAttr constant, ArrayRef<int64_t> shape,
                               Type element)
    : type(RankedTensorType::get(shape, element)), isF16(element.isF16()),
      from(nn::elementBytes(constant.getElementType())),
      to(nn::elementBytes(element)), source(nn::getRawBytes(constant, storage)),
      packed(source ? type.getNumElements() * to : 0, 0) {}

void ConstantPacker::copy(int64_t fromAt, int64_t toAt) {
  assert(fromAt >= 0 && (fromAt + 1) * from <= int64_t(source->size()) &&
         toAt >= 0 && (toAt + 1) * to <= int64_t(packed.size()) &&
         "outside of the constant or of the result");
  const char *element = source->data() + fromAt * from;
  char *target = &packed[toAt * to];
  if (from == to) {
    std::memcpy(target, element, to);
    return;
  }
  uint32_t bits;
  std::memcpy(&bits, element, sizeof(bits));
  uint16_t rounded = isF16 ? roundToF16(bits) : roundToBF16(bits);
  std::memcpy(target, &rounded, sizeof(rounded));
}

ElementsAttr ConstantPacker::take() {
  return source ? nn::makeConstantAttr(type, std::move(packed))
                : ElementsAttr();
}
