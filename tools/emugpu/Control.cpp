//===- Control.cpp - comparisons, selections and jumps --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Decode.h"
#include "tools/emugpu/Numbers.h"

using namespace emugpu;

namespace {
enum Comparison : uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  lo,
  ls,
  hi,
  hs,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  bothNumbers,
  someNaN
};
enum Joining : uint8_t { joinNone, joinAnd, joinOr, joinXor };
} // namespace

template <typename T>
static bool compareValues(uint8_t how, T a, T b) {
  switch (how) {
  case eq:
    return a == b;
  case ne:
    return a != b;
  case lt:
  case lo:
    return a < b;
  case le:
  case ls:
    return a <= b;
  case gt:
  case hi:
    return a > b;
  default:
    return a >= b;
  }
}

/// Comparisons whose names end in u are true for NaN. All others are false.
static bool compareFloats(uint8_t how, double a, double b) {
  const bool isNaN = std::isnan(a) || std::isnan(b);
  switch (how) {
  case bothNumbers:
    return !isNaN;
  case someNaN:
    return isNaN;
  case ne:
    return !isNaN && a != b;
  case equ:
    return isNaN || a == b;
  case neu:
    return isNaN || a != b;
  case ltu:
    return isNaN || a < b;
  case leu:
    return isNaN || a <= b;
  case gtu:
    return isNaN || a > b;
  case geu:
    return isNaN || a >= b;
  default:
    return !isNaN && compareValues(how, a, b);
  }
}

static bool compareBits(Type type, uint8_t how, uint64_t a, uint64_t b) {
  switch (type) {
  case Type::f32:
    return compareFloats(how, bitCast<float>(a), bitCast<float>(b));
  case Type::f64:
    return compareFloats(how, bitCast<double>(a), bitCast<double>(b));
  case Type::f16:
    return compareFloats(how, halfToFloat(uint16_t(a)),
                         halfToFloat(uint16_t(b)));
  case Type::bf16:
    return compareFloats(how, bfloatToFloat(uint16_t(a)),
                         bfloatToFloat(uint16_t(b)));
  case Type::s16:
    return compareValues(how, int16_t(a), int16_t(b));
  case Type::s32:
    return compareValues(how, int32_t(a), int32_t(b));
  case Type::s64:
    return compareValues(how, int64_t(a), int64_t(b));
  case Type::u16:
  case Type::b16:
    return compareValues(how, uint16_t(a), uint16_t(b));
  case Type::u32:
  case Type::b32:
    return compareValues(how, uint32_t(a), uint32_t(b));
  default:
    return compareValues(how, a, b);
  }
}

static Mask compareLanes(Warp &warp, const Instruction &op, size_t first) {
  uint64_t buffers[2][kLanes];
  const uint64_t *a = warp.read(op.operand(first), buffers[0]);
  const uint64_t *b = warp.read(op.operand(first + 1), buffers[1]);
  Mask result = 0;
  // Separate loops for the usual types, because the compiler vectorizes them.
  if (op.type == Type::s32 || op.type == Type::u32 || op.type == Type::b32) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result |=
          Mask(op.type == Type::s32
                   ? compareValues(op.mode, int32_t(a[lane]), int32_t(b[lane]))
                   : compareValues(op.mode, uint32_t(a[lane]),
                                   uint32_t(b[lane])))
          << lane;
    return result;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result |= Mask(compareBits(op.type, op.mode, a[lane], b[lane])) << lane;
  return result;
}

static Mask join(uint8_t joining, Mask a, Mask b) {
  switch (joining) {
  case joinAnd:
    return a & b;
  case joinOr:
    return a | b;
  case joinXor:
    return a ^ b;
  default:
    return a;
  }
}

/// setp d(|q), a, b(, c): sets q to the opposite of the comparison.
static void setPredicate(Warp &warp, const Instruction &op, Mask mask) {
  const bool joins = op.mode2 != joinNone;
  const bool hasTwo = op.numOperands() == (joins ? 5u : 4u);
  const Mask compared = compareLanes(warp, op, hasTwo ? 2 : 1);
  const Mask other = joins ? warp.readPredicate(op.operand(hasTwo ? 4 : 3)) : 0;
  warp.writePredicate(op.operand(0), join(op.mode2, compared, other), mask);
  if (hasTwo)
    warp.writePredicate(op.operand(1), join(op.mode2, ~compared, other), mask);
}

static bool takeComparison(Opcode &opcode, Instruction &op) {
  const int how = opcode.takeOneOf({"eq", "ne", "lt", "le", "gt", "ge", "lo",
                                    "ls", "hi", "hs", "equ", "neu", "ltu",
                                    "leu", "gtu", "geu", "num", "nan"});
  op.mode = uint8_t(how);
  return how >= 0;
}

static bool decodeSetPredicate(Opcode &opcode, Instruction &op) {
  if (!takeComparison(opcode, op))
    return false;
  op.mode2 = uint8_t(opcode.takeOneOf({"and", "or", "xor"}) + 1);
  opcode.take("ftz");
  op.type = opcode.takeType();
  op.execute = setPredicate;
  if (!bytesOf(op.type) || bytesOf(op.type) == 1)
    return false;
  return op.mode2 == joinNone ? haveKinds(op, "pvv") || haveKinds(op, "ppvv")
                              : haveKinds(op, "pvvq") || haveKinds(op, "ppvvq");
}

/// Returns true if a float with these bits is of a kind: finite, infinite,
/// number, notanumber, normal or subnormal.
static bool isOfKind(uint64_t bits, Type type, uint8_t kind) {
  const unsigned mantissaBits = type == Type::f32 ? 23 : 52;
  const uint64_t most = type == Type::f32 ? 0xff : 0x7ff;
  const uint64_t exponent = bits >> mantissaBits & most;
  const uint64_t mantissa = bits & ((uint64_t(1) << mantissaBits) - 1);
  switch (kind) {
  case 0:
    return exponent != most;
  case 1:
    return exponent == most && !mantissa;
  case 2:
    return exponent != most || !mantissa;
  case 3:
    return exponent == most && mantissa;
  case 4:
    return exponent && exponent != most;
  default:
    return !exponent && mantissa;
  }
}

static bool decodeTestKind(Opcode &opcode, Instruction &op) {
  const int kind = opcode.takeOneOf(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  op.mode = uint8_t(kind);
  op.type = opcode.takeType();
  op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
    uint64_t buffer[kLanes];
    const uint64_t *a = warp.read(o.operand(1), buffer);
    Mask result = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result |= Mask(isOfKind(a[lane], o.type, o.mode)) << lane;
    warp.writePredicate(o.operand(0), result, mask);
  };
  return kind >= 0 && (op.type == Type::f32 || op.type == Type::f64) &&
         haveKinds(op, "pv");
}

static bool decodeSet(Opcode &opcode, Instruction &op) {
  if (!takeComparison(opcode, op))
    return false;
  opcode.take("ftz");
  op.type2 = opcode.takeType();
  op.type = opcode.takeType();
  op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
    const Mask compared = compareLanes(warp, o, 1);
    const uint64_t yes =
        o.type2 == Type::f32 ? toBits(1.0f) : uint64_t(0xffffffffu);
    uint64_t result[kLanes];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result[lane] = compared >> lane & 1 ? yes : 0;
    warp.write(o.operand(0), result, mask);
  };
  return (op.type2 == Type::f32 || op.type2 == Type::u32 ||
          op.type2 == Type::s32) &&
         bytesOf(op.type) > 1 && haveKinds(op, "rvv");
}

static bool decodeSelect(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
    uint64_t buffers[2][kLanes], result[kLanes];
    const uint64_t *a = warp.read(o.operand(1), buffers[0]);
    const uint64_t *b = warp.read(o.operand(2), buffers[1]);
    const Mask which = warp.readPredicate(o.operand(3));
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result[lane] = which >> lane & 1 ? a[lane] : b[lane];
    warp.write(o.operand(0), result, mask);
  };
  return bytesOf(op.type) > 1 && haveKinds(op, "rvvq");
}

static bool decodeBranch(Opcode &opcode, Instruction &op) {
  opcode.take("uni");
  op.execute = [](Warp &warp, const Instruction &o, Mask mask) {
    warp.jump(o.operand(0).index, mask);
  };
  return haveKinds(op, "l");
}

static bool decodeExit(Opcode &opcode, Instruction &op) {
  opcode.take("uni");
  op.execute = [](Warp &warp, const Instruction &, Mask mask) {
    warp.exit(mask);
  };
  return haveKinds(op, "");
}

static bool decodeTrap(Opcode &, Instruction &op) {
  op.execute = [](Warp &warp, const Instruction &, Mask mask) {
    warp.fault("the kernel traps", __builtin_ctz(mask));
  };
  return haveKinds(op, "");
}

static bool decodeSleep(Opcode &opcode, Instruction &op) {
  op.execute = [](Warp &, const Instruction &, Mask) {};
  return opcode.take("u32") && haveKinds(op, "v");
}

void emugpu::addControl(Decoders &decoders) {
  decoders["setp"] = decodeSetPredicate;
  decoders["testp"] = decodeTestKind;
  decoders["set"] = decodeSet;
  decoders["selp"] = decodeSelect;
  decoders["bra"] = decodeBranch;
  decoders["ret"] = decodeExit;
  decoders["exit"] = decodeExit;
  decoders["trap"] = decodeTrap;
  decoders["nanosleep"] = decodeSleep;
}
