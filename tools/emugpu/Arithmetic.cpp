//===- Arithmetic.cpp - sums, products, quotients and functions -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Lanes.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace emugpu;

// Arithmetic on packed halves, applied to each half.
template <typename H, typename F>
static auto packed1(F function) {
  return [=](uint32_t a) {
    auto half = [&](unsigned shift) {
      return uint32_t(H::of(function(H{uint16_t(a >> shift)}.value())).bits);
    };
    return half(0) | half(16) << 16;
  };
}
template <typename H, typename F>
static auto packed2(F function) {
  return [=](uint32_t a, uint32_t b) {
    auto half = [&](unsigned shift) {
      return uint32_t(H::of(function(H{uint16_t(a >> shift)}.value(),
                                     H{uint16_t(b >> shift)}.value()))
                          .bits);
    };
    return half(0) | half(16) << 16;
  };
}

/// Makes execute functions of a binary function on floats, one for each float
/// type. Intermediate values are f32. For halves, a single sum, difference or
/// product is exact in f32, and is then rounded.
template <typename F>
static Execute floatBinary(Type type) {
  switch (type) {
  case Type::f32:
    return [](Warp &w, const Instruction &op, Mask m) {
      eachOfTwo<float>(w, op, m, F());
    };
  case Type::f64:
    return [](Warp &w, const Instruction &op, Mask m) {
      eachOfTwo<double>(w, op, m, F());
    };
  case Type::f16:
    return [](Warp &w, const Instruction &op, Mask m) {
      eachOfTwo<Half>(w, op, m, [](Half a, Half b) {
        return Half::of(F()(a.value(), b.value()));
      });
    };
  case Type::bf16:
    return [](Warp &w, const Instruction &op, Mask m) {
      eachOfTwo<Bfloat>(w, op, m, [](Bfloat a, Bfloat b) {
        return Bfloat::of(F()(a.value(), b.value()));
      });
    };
  case Type::f16x2:
    return [](Warp &w, const Instruction &op, Mask m) {
      eachOfTwo<uint32_t>(w, op, m, packed2<Half>(F()));
    };
  case Type::bf16x2:
    return [](Warp &w, const Instruction &op, Mask m) {
      eachOfTwo<uint32_t>(w, op, m, packed2<Bfloat>(F()));
    };
  default:
    return nullptr;
  }
}

namespace {
struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
// As in PTX: if one operand is NaN, the result is the other; +0 is above -0.
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a))
      return b;
    if (std::isnan(b))
      return a;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::isnan(a))
      return b;
    if (std::isnan(b))
      return a;
    if (a == b)
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  }
};
struct MinimumNaN {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN()
                                          : Minimum()(a, b);
  }
};
struct MaximumNaN {
  template <typename T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN()
                                          : Maximum()(a, b);
  }
};

} // namespace

namespace {
// Integers wrap around. Unsigned arithmetic is used, because C++ defines it.
#define INGOT_WRAPPING(NAME, EXPRESSION)                                       \
  template <typename T>                                                        \
  struct NAME {                                                                \
    T operator()(T x, T y) const {                                             \
      uint64_t a = uint64_t(x), b = uint64_t(y);                               \
      return T(EXPRESSION);                                                    \
    }                                                                          \
  };
INGOT_WRAPPING(AddWrapping, a + b)
INGOT_WRAPPING(SubtractWrapping, a - b)
INGOT_WRAPPING(MultiplyWrapping, a *b)
#undef INGOT_WRAPPING

template <typename T>
struct MinimumOf {
  T operator()(T a, T b) const { return std::min(a, b); }
};
template <typename T>
struct MaximumOf {
  T operator()(T a, T b) const { return std::max(a, b); }
};
// Division by zero sets all bits. The smallest integer divided by -1 wraps
// around.
template <typename T>
struct DivideWhole {
  T operator()(T a, T b) const {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed<T>::value && b == T(-1))
      return T(0 - uint64_t(a));
    return T(a / b);
  }
};
template <typename T>
struct Remainder {
  T operator()(T a, T b) const {
    if (b == 0)
      return a;
    if (std::is_signed<T>::value && b == T(-1))
      return 0;
    return T(a % b);
  }
};
template <typename T>
struct MultiplyHigh {
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed<T>::value, __int128,
                                    unsigned __int128>;
    return T(Wide(a) * Wide(b) >> (8 * sizeof(T)));
  }
};
} // namespace

/// Takes the modifiers that floats may have: rounding, flushing and saturation.
/// Returns false for roundings other than to nearest.
static bool takeFloatModifiers(Opcode &opcode) {
  if (opcode.take("rz") || opcode.take("rm") || opcode.take("rp"))
    return false;
  opcode.take("rn");
  return true;
}

template <typename Float, template <typename> class Integer>
static bool decodeBinary(Opcode &opcode, Instruction &op) {
  if (!takeFloatModifiers(opcode))
    return false;
  op.type = opcode.takeType();
  op.execute = floatBinary<Float>(op.type);
  if (!op.execute)
    op.execute = integerBinary<Integer>(op.type);
  return haveKinds(op, "rvv");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

template <typename T, typename Wide>
static void multiplyWide(Warp &w, const Instruction &op, Mask m) {
  eachOfTwo<T>(w, op, m, [](T a, T b) { return Wide(Wide(a) * Wide(b)); });
}

static bool decodeMultiply(Opcode &opcode, Instruction &op) {
  if (opcode.take("wide")) {
    op.type = opcode.takeType();
    switch (op.type) {
    case Type::u16:
      op.execute = multiplyWide<uint16_t, uint32_t>;
      break;
    case Type::s16:
      op.execute = multiplyWide<int16_t, int32_t>;
      break;
    case Type::u32:
      op.execute = multiplyWide<uint32_t, uint64_t>;
      break;
    case Type::s32:
      op.execute = multiplyWide<int32_t, int64_t>;
      break;
    default:
      return false;
    }
    return haveKinds(op, "rvv");
  }
  if (opcode.take("hi")) {
    op.type = opcode.takeType();
    op.execute = integerBinary<MultiplyHigh>(op.type);
    return haveKinds(op, "rvv");
  }
  const bool isInteger = opcode.take("lo");
  if (!isInteger && !takeFloatModifiers(opcode))
    return false;
  op.type = opcode.takeType();
  op.execute = isInteger ? integerBinary<MultiplyWrapping>(op.type)
                         : floatBinary<Multiply>(op.type);
  return haveKinds(op, "rvv");
}

template <typename T>
static void multiplyAdd(Warp &w, const Instruction &op, Mask m) {
  eachOfThree<T>(w, op, m, [](T a, T b, T c) {
    return T(uint64_t(a) * uint64_t(b) + uint64_t(c));
  });
}
template <typename T, typename Wide>
static void multiplyAddWide(Warp &w, const Instruction &op, Mask m) {
  eachOfThree<T, T, Wide>(w, op, m, [](T a, T b, Wide c) {
    using Unsigned = std::make_unsigned_t<Wide>;
    return Unsigned(Unsigned(Wide(a)) * Unsigned(Wide(b)) + Unsigned(c));
  });
}

static void multiplyAddF32(Warp &w, const Instruction &op, Mask m) {
  eachOfThree<float>(
      w, op, m, [](float a, float b, float c) { return std::fma(a, b, c); });
}
static void multiplyAddF64(Warp &w, const Instruction &op, Mask m) {
  eachOfThree<double>(
      w, op, m, [](double a, double b, double c) { return std::fma(a, b, c); });
}
/// A fused multiply-add of halves. The product is exact in f64. The sum is
/// exact, too, unless the exponents are far apart.
template <typename H>
static H fusedHalf(H a, H b, H c) {
  return H::of(float(double(a.value()) * b.value() + c.value()));
}
template <typename H>
static void multiplyAddHalf(Warp &w, const Instruction &op, Mask m) {
  eachOfThree<H>(w, op, m, fusedHalf<H>);
}
template <typename H>
static void multiplyAddPacked(Warp &w, const Instruction &op, Mask m) {
  eachOfThree<uint32_t>(w, op, m, [](uint32_t a, uint32_t b, uint32_t c) {
    auto half = [&](unsigned shift) {
      return uint32_t(fusedHalf(H{uint16_t(a >> shift)},
                                H{uint16_t(b >> shift)},
                                H{uint16_t(c >> shift)})
                          .bits);
    };
    return half(0) | half(16) << 16;
  });
}

static Execute fusedMultiplyAdd(Type type) {
  switch (type) {
  case Type::f32:
    return multiplyAddF32;
  case Type::f64:
    return multiplyAddF64;
  case Type::f16:
    return multiplyAddHalf<Half>;
  case Type::bf16:
    return multiplyAddHalf<Bfloat>;
  case Type::f16x2:
    return multiplyAddPacked<Half>;
  case Type::bf16x2:
    return multiplyAddPacked<Bfloat>;
  default:
    return nullptr;
  }
}

static bool decodeFma(Opcode &opcode, Instruction &op) {
  if (!takeFloatModifiers(opcode))
    return false;
  op.type = opcode.takeType();
  op.execute = fusedMultiplyAdd(op.type);
  return haveKinds(op, "rvvv");
}

static bool decodeMad(Opcode &opcode, Instruction &op) {
  if (opcode.take("lo")) {
    op.type = opcode.takeType();
    switch (op.type) {
    case Type::u16:
    case Type::s16:
      op.execute = multiplyAdd<uint16_t>;
      break;
    case Type::u32:
    case Type::s32:
      op.execute = multiplyAdd<uint32_t>;
      break;
    case Type::u64:
    case Type::s64:
      op.execute = multiplyAdd<uint64_t>;
      break;
    default:
      return false;
    }
  } else if (opcode.take("wide")) {
    op.type = opcode.takeType();
    switch (op.type) {
    case Type::u16:
      op.execute = multiplyAddWide<uint16_t, uint32_t>;
      break;
    case Type::s16:
      op.execute = multiplyAddWide<int16_t, int32_t>;
      break;
    case Type::u32:
      op.execute = multiplyAddWide<uint32_t, uint64_t>;
      break;
    case Type::s32:
      op.execute = multiplyAddWide<int32_t, int64_t>;
      break;
    default:
      return false;
    }
  } else {
    return decodeFma(opcode, op);
  }
  return haveKinds(op, "rvvv");
}

//===----------------------------------------------------------------------===//
// Quotients, signs and functions
//===----------------------------------------------------------------------===//

static bool decodeDivide(Opcode &opcode, Instruction &op) {
  if (opcode.takeOneOf({"rn", "approx", "full"}) >= 0) {
    op.type = opcode.takeType();
    op.execute = op.type == Type::f32 || op.type == Type::f64
                     ? floatBinary<Divide>(op.type)
                     : nullptr;
  } else {
    op.type = opcode.takeType();
    op.execute = integerBinary<DivideWhole>(op.type);
  }
  return haveKinds(op, "rvv");
}

static bool decodeRemainder(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  op.execute = integerBinary<Remainder>(op.type);
  return haveKinds(op, "rvv");
}

template <bool isMaximum>
static bool decodeExtreme(Opcode &opcode, Instruction &op) {
  const bool keepsNaN = opcode.take("NaN");
  op.type = opcode.takeType();
  if (keepsNaN)
    op.execute =
        floatBinary<std::conditional_t<isMaximum, MaximumNaN, MinimumNaN>>(
            op.type);
  else
    op.execute =
        floatBinary<std::conditional_t<isMaximum, Maximum, Minimum>>(op.type);
  if (!op.execute && !keepsNaN)
    op.execute = isMaximum ? integerBinary<MaximumOf>(op.type)
                           : integerBinary<MinimumOf>(op.type);
  return haveKinds(op, "rvv");
}

/// Changes the sign bits of floats, also of NaN: clears them if `isAbs`, else
/// flips them.
template <bool isAbs>
static bool decodeSign(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  switch (op.type) {
#define INGOT_FLOAT(NAME, T, SIGNS)                                            \
  case Type::NAME:                                                             \
    op.execute = [](Warp &w, const Instruction &o, Mask m) {                   \
      eachOfOne<T>(w, o, m, [](T a) {                                          \
        return isAbs ? T(a & ~T(SIGNS)) : T(a ^ T(SIGNS));                     \
      });                                                                      \
    };                                                                         \
    break;
    INGOT_FLOAT(f32, uint32_t, 0x80000000u)
    INGOT_FLOAT(f64, uint64_t, uint64_t(1) << 63)
    INGOT_FLOAT(f16, uint16_t, 0x8000)
    INGOT_FLOAT(bf16, uint16_t, 0x8000)
    INGOT_FLOAT(f16x2, uint32_t, 0x80008000u)
    INGOT_FLOAT(bf16x2, uint32_t, 0x80008000u)
#undef INGOT_FLOAT
#define INGOT_INTEGER(NAME, T)                                                 \
  case Type::NAME:                                                             \
    op.execute = [](Warp &w, const Instruction &o, Mask m) {                   \
      eachOfOne<T>(w, o, m, [](T a) {                                          \
        return isAbs && a >= 0 ? a : T(0 - uint64_t(a));                       \
      });                                                                      \
    };                                                                         \
    break;
    INGOT_INTEGER(s16, int16_t)
    INGOT_INTEGER(s32, int32_t)
    INGOT_INTEGER(s64, int64_t)
#undef INGOT_INTEGER
  default:
    return false;
  }
  return haveKinds(op, "rv");
}

void emugpu::addArithmetic(Decoders &decoders) {
  decoders["add"] = decodeBinary<Add, AddWrapping>;
  decoders["sub"] = decodeBinary<Subtract, SubtractWrapping>;
  decoders["mul"] = decodeMultiply;
  decoders["mad"] = decodeMad;
  decoders["fma"] = decodeFma;
  decoders["div"] = decodeDivide;
  decoders["rem"] = decodeRemainder;
  decoders["min"] = decodeExtreme<false>;
  decoders["max"] = decodeExtreme<true>;
  decoders["neg"] = decodeSign<false>;
  decoders["abs"] = decodeSign<true>;
}
