//===- Conversions.cpp - cvt, from one number format to another -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Numbers.h"

#include <algorithm>
#include <limits>

using namespace emugpu;

namespace {
/// The rounding of a conversion, in Instruction::mode.
enum Rounding : uint8_t {
  /// To the nearest, ties to even.
  rn,
  rz,
  rm,
  rp,
  /// To the nearest integer value, ties to even.
  rni,
  rzi,
  rmi,
  rpi,
  /// To the nearest, ties away from zero.
  rna,
  unstated
};
/// Flags in Instruction::mode2.
enum : uint8_t { saturates = 1, clampsNegative = 2 };

/// A value in the middle of a conversion. Every type fits into one of the
/// members.
struct Number {
  bool isFloat;
  double real;
  __int128 whole;
};
} // namespace

static bool isFloatType(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 ||
         type == Type::f64;
}

static Number load(Type type, uint64_t bits) {
  switch (type) {
  case Type::f16:
    return {true, halfToFloat(uint16_t(bits)), 0};
  case Type::bf16:
    return {true, bfloatToFloat(uint16_t(bits)), 0};
  case Type::f32:
    return {true, bitCast<float>(bits), 0};
  case Type::f64:
    return {true, bitCast<double>(bits), 0};
  case Type::u8:
    return {false, 0, uint8_t(bits)};
  case Type::s8:
    return {false, 0, int8_t(bits)};
  case Type::u16:
    return {false, 0, uint16_t(bits)};
  case Type::s16:
    return {false, 0, int16_t(bits)};
  case Type::u32:
    return {false, 0, uint32_t(bits)};
  case Type::s32:
    return {false, 0, int32_t(bits)};
  case Type::u64:
    return {false, 0, bits};
  default:
    return {false, 0, int64_t(bits)};
  }
}

static bool isSignedType(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 ||
         type == Type::s64;
}

static double roundToWhole(double value, uint8_t rounding) {
  switch (rounding) {
  case rzi:
  case rz:
    return std::trunc(value);
  case rmi:
  case rm:
    return std::floor(value);
  case rpi:
  case rp:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

/// Rounds f64 to f32. For directed roundings, steps back if the nearest value
/// is on the wrong side of the exact value.
static float toFloat(double value, uint8_t rounding) {
  float nearest = float(value);
  const float infinity = std::numeric_limits<float>::infinity();
  switch (rounding) {
  case rz:
    if (std::fabs(double(nearest)) > std::fabs(value))
      nearest = std::nextafter(nearest, 0.0f);
    break;
  case rm:
    if (double(nearest) > value)
      nearest = std::nextafter(nearest, -infinity);
    break;
  case rp:
    if (double(nearest) < value)
      nearest = std::nextafter(nearest, infinity);
    break;
  }
  return nearest;
}

/// Rounds to f32. A value between two floats becomes the odd one. A second
/// rounding then gives the half that is nearest to `value`.
template <typename T>
static float toOddFloat(T value) {
  float nearest = float(value);
  if (value != value || T(nearest) == value)
    return nearest;
  if (nearest > 0 ? T(nearest) > value : T(nearest) < value)
    nearest = std::nextafter(nearest, 0.0f);
  return bitCast<float>(bitCast<uint32_t>(nearest) | 1);
}

static uint64_t store(Type type, const Number &number, uint8_t rounding,
                      uint8_t flags) {
  if (isFloatType(type)) {
    double value = number.isFloat ? number.real : double(number.whole);
    if (rounding >= rni && rounding <= rpi)
      value = roundToWhole(value, rounding);
    if (flags & saturates)
      value = value > 0 ? std::min(value, 1.0) : 0; // NaN and -0 are 0, too
    if (flags & clampsNegative && value < 0)
      value = 0;
    switch (type) {
    case Type::f64:
      return toBits(value);
    case Type::f32:
      // An integer may have more bits than f64, so round it directly.
      if (!number.isFloat && rounding == rn && !(flags & saturates))
        return toBits(float(number.whole));
      return toBits(toFloat(value, rounding));
    default: {
      const float odd = number.isFloat || flags ? toOddFloat(value)
                                                : toOddFloat(number.whole);
      return type == Type::f16 ? floatToHalf(odd) : floatToBfloat(odd);
    }
    }
  }
  const unsigned bits = 8 * bytesOf(type);
  const bool isSigned = isSignedType(type);
  const __int128 one = 1;
  const __int128 lowest = isSigned ? -(one << (bits - 1)) : 0;
  const __int128 highest = (one << (isSigned ? bits - 1 : bits)) - 1;
  __int128 whole = number.whole;
  if (number.isFloat) {
    // A float is always saturated, and NaN becomes 0.
    const double value = roundToWhole(number.real, rounding);
    if (std::isnan(value))
      whole = 0;
    else if (value <= double(lowest))
      whole = lowest;
    else if (value >= double(highest))
      whole = highest;
    else
      whole = __int128(value);
  } else if (flags & saturates) {
    whole = std::clamp(whole, lowest, highest);
  }
  // If the result is narrower than its register, extends its sign.
  const uint64_t kept = uint64_t(whole);
  switch (type) {
  case Type::s8:
    return uint64_t(uint16_t(int8_t(kept)));
  case Type::u8:
    return uint8_t(kept);
  case Type::s16:
  case Type::u16:
    return uint16_t(kept);
  case Type::s32:
  case Type::u32:
    return uint32_t(kept);
  default:
    return kept;
  }
}

static void convert(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffer[kLanes], result[kLanes];
  const uint64_t *source = warp.read(op.operand(1), buffer);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] =
        mask >> lane & 1
            ? store(op.type, load(op.type2, source[lane]), op.mode, op.mode2)
            : 0;
  warp.write(op.operand(0), result, mask);
}

/// Rounds two f32 to halves. The first operand becomes the upper half.
static void convertPair(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffers[2][kLanes], result[kLanes];
  const uint64_t *high = warp.read(op.operand(1), buffers[0]);
  const uint64_t *low = warp.read(op.operand(2), buffers[1]);
  const Type type = op.type == Type::f16x2 ? Type::f16 : Type::bf16;
  auto one = [&](uint64_t bits) {
    return store(type, load(Type::f32, bits), op.mode, op.mode2);
  };
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = one(high[lane]) << 16 | one(low[lane]);
  warp.write(op.operand(0), result, mask);
}

static void convertToTf32(Warp &warp, const Instruction &op, Mask mask) {
  uint64_t buffer[kLanes], result[kLanes];
  const uint64_t *source = warp.read(op.operand(1), buffer);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = floatToTf32(bitCast<float>(source[lane]));
  warp.write(op.operand(0), result, mask);
}

static bool decodeConvert(Opcode &opcode, Instruction &op) {
  int rounding = opcode.takeOneOf(
      {"rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"});
  op.mode = rounding < 0 ? uint8_t(unstated) : uint8_t(rounding);
  if (opcode.take("relu"))
    op.mode2 |= clampsNegative;
  opcode.take("ftz");
  if (opcode.take("sat"))
    op.mode2 |= saturates;
  op.type = opcode.takeType();
  op.type2 = opcode.takeType();
  if (op.type == Type::tf32 && op.type2 == Type::f32 && op.mode == rna) {
    op.execute = convertToTf32;
    return haveKinds(op, "rv");
  }
  if (op.mode == rna)
    return false;
  if ((op.type == Type::f16x2 || op.type == Type::bf16x2) &&
      op.type2 == Type::f32) {
    op.execute = convertPair;
    return op.mode == rn && haveKinds(op, "rvv");
  }
  auto isNumber = [](Type type) {
    return isFloatType(type) || isSignedType(type) || type == Type::u8 ||
           type == Type::u16 || type == Type::u32 || type == Type::u64;
  };
  if (!isNumber(op.type) || !isNumber(op.type2))
    return false;
  // Halves are rounded to nearest: see toOddFloat.
  if ((op.type == Type::f16 || op.type == Type::bf16) &&
      (op.mode == rz || op.mode == rm || op.mode == rp))
    return false;
  op.execute = convert;
  return haveKinds(op, "rv");
}

void emugpu::addConversions(Decoders &decoders) {
  decoders["cvt"] = decodeConvert;
}
