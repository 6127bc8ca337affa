//===- Functions.cpp - roots, powers and other functions of floats --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/Lanes.h"

#include <cmath>

using namespace emugpu;

template <typename F>
static void functionF32(Warp &w, const Instruction &op, Mask m) {
  eachOfOne<float>(w, op, m, F());
}
template <typename F>
static void functionF64(Warp &w, const Instruction &op, Mask m) {
  eachOfOne<double>(w, op, m, F());
}

namespace {
struct Reciprocal {
  template <typename T>
  T operator()(T x) const {
    return T(1) / x;
  }
};
struct SquareRoot {
  template <typename T>
  T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct ReciprocalRoot {
  template <typename T>
  T operator()(T x) const {
    return T(1 / std::sqrt(double(x)));
  }
};
struct Exp2 {
  float operator()(float x) const { return std::exp2(x); }
};
struct Log2 {
  float operator()(float x) const { return std::log2(x); }
};
struct Sine {
  float operator()(float x) const { return std::sin(x); }
};
struct Cosine {
  float operator()(float x) const { return std::cos(x); }
};
struct Tanh {
  float operator()(float x) const { return std::tanh(x); }
};
} // namespace

/// A function of one float. The results of a GPU's `approx` form may differ in
/// the last bits.
template <typename F, bool hasF64>
static bool decodeFunction(Opcode &opcode, Instruction &op) {
  if (opcode.takeOneOf({"approx", "rn"}) < 0)
    return false;
  opcode.take("ftz");
  op.type = opcode.takeType();
  if (op.type == Type::f32)
    op.execute = functionF32<F>;
  else if constexpr (hasF64)
    if (op.type == Type::f64)
      op.execute = functionF64<F>;
  return haveKinds(op, "rv");
}

/// Gives the second operand the sign of the first. `Word` has its bits.
template <typename Word>
static void copySign(Warp &w, const Instruction &op, Mask m) {
  eachOfTwo<Word>(w, op, m, [](Word sign, Word value) {
    constexpr Word kSign = Word(1) << (8 * sizeof(Word) - 1);
    return Word((value & ~kSign) | (sign & kSign));
  });
}

static bool decodeCopySign(Opcode &opcode, Instruction &op) {
  op.type = opcode.takeType();
  if (op.type == Type::f32)
    op.execute = copySign<uint32_t>;
  if (op.type == Type::f64)
    op.execute = copySign<uint64_t>;
  return haveKinds(op, "rvv");
}

void emugpu::addFunctions(Decoders &decoders) {
  decoders["copysign"] = decodeCopySign;
  decoders["rcp"] = decodeFunction<Reciprocal, true>;
  decoders["sqrt"] = decodeFunction<SquareRoot, true>;
  decoders["rsqrt"] = decodeFunction<ReciprocalRoot, true>;
  decoders["ex2"] = decodeFunction<Exp2, false>;
  decoders["lg2"] = decodeFunction<Log2, false>;
  decoders["sin"] = decodeFunction<Sine, false>;
  decoders["cos"] = decodeFunction<Cosine, false>;
  decoders["tanh"] = decodeFunction<Tanh, false>;
}
