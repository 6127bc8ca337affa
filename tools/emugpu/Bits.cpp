//===- Bits.cpp - logic, shifts and other instructions on bits ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Lanes.h"

#include <algorithm>
#include <type_traits>

using namespace emugpu;

namespace {
#define INGOT_WRAPPING(NAME, EXPRESSION)                                       \
  template <typename T>                                                        \
  struct NAME {                                                                \
    T operator()(T x, T y) const {                                             \
      uint64_t a = uint64_t(x), b = uint64_t(y);                               \
      return T(EXPRESSION);                                                    \
    }                                                                          \
  };
INGOT_WRAPPING(And, a &b)
INGOT_WRAPPING(Or, a | b)
INGOT_WRAPPING(Xor, a ^ b)
#undef INGOT_WRAPPING

// A shift by more than the width gives zero, or copies of the sign.
template <typename T>
struct ShiftLeft {
  T operator()(T a, uint32_t by) const {
    return by >= 8 * sizeof(T) ? T(0) : T(uint64_t(a) << by);
  }
};
template <typename T>
struct ShiftRight {
  T operator()(T a, uint32_t by) const {
    return T(a >> std::min<uint32_t>(by, 8 * sizeof(T) - 1)) &
           (by >= 8 * sizeof(T) && !std::is_signed<T>::value ? T(0) : T(~T(0)));
  }
};
} // namespace

template <template <typename> class F>
static bool decodeLogic(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  if (op.type == Type::pred) {
    op.execute = [](Warp &w, const Instruction &o, Mask m) {
      w.writePredicate(o.operand(0),
                       F<Mask>()(w.readPredicate(o.operand(1)),
                                 w.readPredicate(o.operand(2))),
                       m);
    };
    return haveKinds(op, "pqq");
  }
  op.execute = integerBinary<F>(op.type);
  return haveKinds(op, "rvv");
}

static bool decodeNot(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  if (op.type == Type::pred) {
    op.execute = [](Warp &w, const Instruction &o, Mask m) {
      w.writePredicate(o.operand(0), ~w.readPredicate(o.operand(1)), m);
    };
    return haveKinds(op, "pq");
  }
  switch (op.type) {
#define INGOT_CASE(NAME, T)                                                    \
  case Type::NAME:                                                             \
    op.execute = [](Warp &w, const Instruction &o, Mask m) {                   \
      eachOfOne<T>(w, o, m, [](T a) { return T(~a); });                        \
    };                                                                         \
    break;
    INGOT_CASE(b16, uint16_t)
    INGOT_CASE(b32, uint32_t)
    INGOT_CASE(b64, uint64_t)
#undef INGOT_CASE
  default:
    return false;
  }
  return haveKinds(op, "rv");
}

template <template <typename> class F>
static Execute shiftOf(Type type) {
  switch (type) {
#define INGOT_CASE(NAME, T)                                                    \
  case Type::NAME:                                                             \
    return [](Warp &w, const Instruction &op, Mask m) {                        \
      eachOfTwo<T, uint32_t>(w, op, m, F<T>());                                \
    };
    INGOT_CASE(u16, uint16_t)
    INGOT_CASE(b16, uint16_t)
    INGOT_CASE(s16, int16_t)
    INGOT_CASE(u32, uint32_t)
    INGOT_CASE(b32, uint32_t)
    INGOT_CASE(s32, int32_t)
    INGOT_CASE(u64, uint64_t)
    INGOT_CASE(b64, uint64_t)
    INGOT_CASE(s64, int64_t)
#undef INGOT_CASE
  default:
    return nullptr;
  }
}

template <template <typename> class F>
static bool decodeShift(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  op.execute = shiftOf<F>(op.type);
  return haveKinds(op, "rvv");
}

/// shf: returns the upper or lower half of a shifted pair of registers.
static bool decodeFunnelShift(Opcode &opcode, Instruction &op) {
  const bool isLeft = opcode.take("l");
  if (!isLeft && !opcode.take("r"))
    return false;
  const bool wraps = opcode.take("wrap");
  if (!wraps && !opcode.take("clamp"))
    return false;
  if (!opcode.take("b32"))
    return false;
  op.mode = isLeft;
  op.mode2 = wraps;
  op.execute = [](Warp &w, const Instruction &o, Mask m) {
    eachOfThree<uint32_t>(
        w, o, m, [&](uint32_t low, uint32_t high, uint32_t by) {
          by = o.mode2 ? by & 31 : std::min(by, 32u);
          const uint64_t pair = uint64_t(high) << 32 | low;
          return uint32_t(o.mode ? (pair << by) >> 32 : pair >> by);
        });
  };
  return haveKinds(op, "rvvv");
}

/// Extracts `count` bits, starting at bit `first`, with or without a sign.
template <typename T>
static T extractBits(T a, uint32_t first, uint32_t count) {
  constexpr unsigned kBits = 8 * sizeof(T);
  first &= 255;
  count &= 255;
  using Unsigned = std::make_unsigned_t<T>;
  if (!count)
    return 0;
  const unsigned last = std::min(first + count - 1, kBits - 1);
  Unsigned value = first < kBits ? Unsigned(a) >> first : 0;
  const unsigned kept = first < kBits ? last - first + 1 : 0;
  if (kept < kBits)
    value &= (Unsigned(1) << kept) - 1;
  if (std::is_signed<T>::value && (Unsigned(a) >> last & 1) && kept < kBits)
    value |= ~((Unsigned(1) << kept) - 1);
  return T(value);
}

static bool decodeExtract(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  switch (op.type) {
#define INGOT_CASE(NAME, T)                                                    \
  case Type::NAME:                                                             \
    op.execute = [](Warp &w, const Instruction &o, Mask m) {                   \
      eachOfThree<T, uint32_t, uint32_t>(w, o, m, extractBits<T>);             \
    };                                                                         \
    break;
    INGOT_CASE(u32, uint32_t)
    INGOT_CASE(s32, int32_t)
    INGOT_CASE(u64, uint64_t)
    INGOT_CASE(s64, int64_t)
#undef INGOT_CASE
  default:
    return false;
  }
  return haveKinds(op, "rvvv");
}

static bool decodeCount(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  if (op.type == Type::b32)
    op.execute = [](Warp &w, const Instruction &o, Mask m) {
      eachOfOne<uint32_t>(w, o, m,
                          [](uint32_t a) { return __builtin_popcount(a); });
    };
  else if (op.type == Type::b64)
    op.execute = [](Warp &w, const Instruction &o, Mask m) {
      eachOfOne<uint64_t>(w, o, m,
                          [](uint64_t a) { return __builtin_popcountll(a); });
    };
  return haveKinds(op, "rv");
}

static bool decodeLeadingZeros(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  if (op.type == Type::b32)
    op.execute = [](Warp &w, const Instruction &o, Mask m) {
      eachOfOne<uint32_t>(w, o, m,
                          [](uint32_t a) { return a ? __builtin_clz(a) : 32; });
    };
  else if (op.type == Type::b64)
    op.execute = [](Warp &w, const Instruction &o, Mask m) {
      eachOfOne<uint64_t>(
          w, o, m, [](uint64_t a) { return a ? __builtin_clzll(a) : 64; });
    };
  return haveKinds(op, "rv");
}

static bool decodeReverse(Opcode &opcode, Instruction &op) {
  if (!opcode.take("b32"))
    return false;
  op.execute = [](Warp &w, const Instruction &o, Mask m) {
    eachOfOne<uint32_t>(w, o, m, [](uint32_t a) {
      uint32_t reversed = 0;
      for (unsigned bit = 0; bit < 32; ++bit)
        reversed |= (a >> bit & 1) << (31 - bit);
      return reversed;
    });
  };
  return haveKinds(op, "rv");
}

/// prmt: selects four of eight bytes. Bit 3 of a selector replicates the sign.
static bool decodePermute(Opcode &opcode, Instruction &op) {
  if (!opcode.take("b32"))
    return false;
  op.execute = [](Warp &w, const Instruction &o, Mask m) {
    eachOfThree<uint32_t>(w, o, m, [](uint32_t a, uint32_t b, uint32_t s) {
      const uint64_t bytes = uint64_t(b) << 32 | a;
      uint32_t picked = 0;
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned selector = s >> (4 * i) & 15;
        uint32_t byte = bytes >> (8 * (selector & 7)) & 255;
        if (selector & 8)
          byte = byte & 128 ? 255 : 0;
        picked |= byte << (8 * i);
      }
      return picked;
    });
  };
  return haveKinds(op, "rvvv");
}

/// lop3: applies a truth table to three bits.
static bool decodeLogicOfThree(Opcode &opcode, Instruction &op) {
  if (!opcode.take("b32"))
    return false;
  op.execute = [](Warp &w, const Instruction &o, Mask m) {
    const uint32_t table = uint32_t(o.operand(4).value);
    eachOfThree<uint32_t>(w, o, m, [&](uint32_t a, uint32_t b, uint32_t c) {
      uint32_t result = 0;
      for (unsigned i = 0; i < 8; ++i)
        if (table >> i & 1)
          result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
      return result;
    });
  };
  return haveKinds(op, "rvvvi");
}

/// dp4a: adds four products of bytes to a sum.
static bool decodeDot(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  op.type2 = opcode.takeType();
  auto isWord = [](Type type) {
    return type == Type::u32 || type == Type::s32;
  };
  if (!isWord(op.type) || !isWord(op.type2))
    return false;
  op.execute = [](Warp &w, const Instruction &o, Mask m) {
    eachOfThree<uint32_t>(w, o, m, [&](uint32_t a, uint32_t b, uint32_t c) {
      auto byte = [](uint32_t of, unsigned i, Type type) {
        uint8_t bits = uint8_t(of >> (8 * i));
        return type == Type::s32 ? int(int8_t(bits)) : int(bits);
      };
      uint32_t sum = c;
      for (unsigned i = 0; i < 4; ++i)
        sum += uint32_t(byte(a, i, o.type) * byte(b, i, o.type2));
      return sum;
    });
  };
  return haveKinds(op, "rvvv");
}

void emugpu::addBits(Decoders &decoders) {
  decoders["and"] = decodeLogic<And>;
  decoders["or"] = decodeLogic<Or>;
  decoders["xor"] = decodeLogic<Xor>;
  decoders["not"] = decodeNot;
  decoders["shl"] = decodeShift<ShiftLeft>;
  decoders["shr"] = decodeShift<ShiftRight>;
  decoders["shf"] = decodeFunnelShift;
  decoders["bfe"] = decodeExtract;
  decoders["popc"] = decodeCount;
  decoders["clz"] = decodeLeadingZeros;
  decoders["brev"] = decodeReverse;
  decoders["prmt"] = decodePermute;
  decoders["lop3"] = decodeLogicOfThree;
  decoders["dp4a"] = decodeDot;
}
