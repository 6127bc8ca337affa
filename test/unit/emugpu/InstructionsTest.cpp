//===- InstructionsTest.cpp - each instruction computes the right value ---===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case executes one instruction for 32 lanes of special and of drawn
// values, and compares with C++.
//
//===----------------------------------------------------------------------===//
#include "test/unit/emugpu/TestGpu.h"
#include "tools/emugpu/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace emugpu;
using namespace emugpu::test;

namespace {
/// Runs `instruction` on 32 pairs of values in %r10 and %r11 (32 bits), which
/// writes %r12. Returns the 32 results.
std::vector<uint32_t> compute(const std::string &instruction,
                              const std::vector<uint32_t> &a,
                              const std::vector<uint32_t> &b) {
  TestGpu gpu;
  std::vector<uint32_t> data = a;
  data.insert(data.end(), b.begin(), b.end());
  const uint64_t x = gpu.upload(data), y = gpu.memory.allocate(128);
  const std::string report = gpu.run(
      kernelOf(
          "  .reg .b16 %h10, %h11, %h12;\n"
          "  ld.global.u32 %r10, [%d3];\n  ld.global.u32 %r11, [%d3+128];\n"
          "  mov.b32 {%h10, %h1}, %r10;\n  mov.b32 {%h11, %h1}, %r11;\n"
          "  mov.b32 %r12, 0;\n  " +
          instruction + "\n  st.global.u32 [%d4], %r12;"),
      {1}, {32}, {x, y}, 0);
  EXPECT_EQ(report, "") << instruction;
  if (!report.empty())
    return std::vector<uint32_t>(32);
  return gpu.download<uint32_t>(y, 32);
}

std::vector<uint32_t> words(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> values = {0,          1,          31,         32,
                                  0x7fffffff, 0x80000000, 0xffffffff, 255};
  while (values.size() < 32)
    values.push_back(random() >> (random() % 24));
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

std::vector<float> floats(uint32_t seed) {
  std::mt19937 random(seed);
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {0.0f,     -0.0f,     1.0f,          -1.5f,
                               infinity, -infinity, std::nanf(""), 1e-40f,
                               3e38f,    2.5f,      -2.5f};
  while (values.size() < 32)
    values.push_back(
        std::ldexp(float(int32_t(random())), -24 - int(random() % 12)));
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits;
  for (float value : values)
    bits.push_back(bitCast<uint32_t>(value));
  return bits;
}

/// Checks an instruction on integers for several drawn inputs.
template <typename F>
void checkWords(const char *instruction, F expected) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const std::vector<uint32_t> a = words(seed), b = words(seed + 100);
    const std::vector<uint32_t> got = compute(instruction, a, b);
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(got[i], uint32_t(expected(a[i], b[i])))
          << instruction << " of " << a[i] << ", " << b[i];
  }
}

/// Checks an instruction on floats. NaN equals any NaN.
template <typename F>
void checkFloats(const char *instruction, F expected) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const std::vector<float> a = floats(seed), b = floats(seed + 100);
    const std::vector<uint32_t> got =
        compute(instruction, bitsOf(a), bitsOf(b));
    for (size_t i = 0; i < 32; ++i) {
      const float value = bitCast<float>(got[i]), right = expected(a[i], b[i]);
      if (std::isnan(right))
        EXPECT_TRUE(std::isnan(value))
            << instruction << " of " << a[i] << ", " << b[i];
      else
        EXPECT_EQ(got[i], bitCast<uint32_t>(right))
            << instruction << " of " << a[i] << ", " << b[i];
    }
  }
}
} // namespace

TEST(Instructions, Integers) {
  using u = uint32_t;
  checkWords("add.u32 %r12, %r10, %r11;", [](u a, u b) { return a + b; });
  checkWords("sub.s32 %r12, %r10, %r11;", [](u a, u b) { return a - b; });
  checkWords("mul.lo.s32 %r12, %r10, %r11;", [](u a, u b) { return a * b; });
  checkWords("mul.hi.u32 %r12, %r10, %r11;",
             [](u a, u b) { return uint64_t(a) * b >> 32; });
  checkWords("mul.hi.s32 %r12, %r10, %r11;", [](u a, u b) {
    return uint64_t(int64_t(int32_t(a)) * int32_t(b)) >> 32;
  });
  checkWords("mad.lo.s32 %r12, %r10, %r11, %r10;",
             [](u a, u b) { return a * b + a; });
  checkWords("div.u32 %r12, %r10, %r11;",
             [](u a, u b) { return b ? a / b : ~0u; });
  checkWords("rem.u32 %r12, %r10, %r11;",
             [](u a, u b) { return b ? a % b : a; });
  checkWords("div.s32 %r12, %r10, %r11;", [](u a, u b) {
    return b == 0 ? ~0u : b == ~0u ? 0 - a : u(int32_t(a) / int32_t(b));
  });
  checkWords("min.s32 %r12, %r10, %r11;",
             [](u a, u b) { return std::min(int32_t(a), int32_t(b)); });
  checkWords("max.u32 %r12, %r10, %r11;",
             [](u a, u b) { return std::max(a, b); });
  checkWords("abs.s32 %r12, %r10;",
             [](u a, u) { return int32_t(a) < 0 ? 0 - a : a; });
  checkWords("neg.s32 %r12, %r10;", [](u a, u) { return 0 - a; });
}

TEST(Instructions, Bits) {
  using u = uint32_t;
  checkWords("and.b32 %r12, %r10, %r11;", [](u a, u b) { return a & b; });
  checkWords("or.b32 %r12, %r10, %r11;", [](u a, u b) { return a | b; });
  checkWords("xor.b32 %r12, %r10, %r11;", [](u a, u b) { return a ^ b; });
  checkWords("not.b32 %r12, %r10;", [](u a, u) { return ~a; });
  checkWords("shl.b32 %r12, %r10, %r11;",
             [](u a, u b) { return b > 31 ? 0 : a << b; });
  checkWords("shr.u32 %r12, %r10, %r11;",
             [](u a, u b) { return b > 31 ? 0 : a >> b; });
  checkWords("shr.s32 %r12, %r10, %r11;",
             [](u a, u b) { return u(int32_t(a) >> std::min(b, 31u)); });
  checkWords("shf.l.wrap.b32 %r12, %r10, %r11, 9;",
             [](u a, u b) { return b << 9 | a >> 23; });
  checkWords("shf.r.clamp.b32 %r12, %r10, %r11, 40;", [](u, u b) { return b; });
  checkWords("bfe.u32 %r12, %r10, 5, 11;",
             [](u a, u) { return a >> 5 & 0x7ff; });
  checkWords("bfe.s32 %r12, %r10, 5, 11;",
             [](u a, u) { return u(int32_t(a << 16) >> 21); });
  checkWords("popc.b32 %r12, %r10;",
             [](u a, u) { return __builtin_popcount(a); });
  checkWords("clz.b32 %r12, %r10;",
             [](u a, u) { return a ? __builtin_clz(a) : 32; });
  checkWords("prmt.b32 %r12, %r10, %r11, 0x7610;",
             [](u a, u b) { return (a & 0xffff) | (b & 0xffff0000); });
  checkWords("prmt.b32 %r12, %r10, %r11, 0x0008;", [](u a, u) {
    return (a & 0xff) * 0x01010100u + (a & 0x80 ? 255 : 0);
  });
  // The truth table 0xca is a selection: bits of the first operand select
  // between the others.
  checkWords("lop3.b32 %r12, %r10, %r11, 0x0f0f0f0f, 0xca;",
             [](u a, u b) { return (a & b) | (~a & 0x0f0f0f0fu); });
  checkWords("dp4a.u32.s32 %r12, %r10, %r11, %r10;", [](u a, u b) {
    int32_t sum = int32_t(a);
    for (int i = 0; i < 4; ++i)
      sum = int32_t(u(sum) +
                    u(int(uint8_t(a >> 8 * i)) * int(int8_t(b >> 8 * i))));
    return u(sum);
  });
}

TEST(Instructions, Floats) {
  checkFloats("add.rn.f32 %r12, %r10, %r11;",
              [](float a, float b) { return a + b; });
  checkFloats("sub.f32 %r12, %r10, %r11;",
              [](float a, float b) { return a - b; });
  checkFloats("mul.rn.f32 %r12, %r10, %r11;",
              [](float a, float b) { return a * b; });
  checkFloats("div.rn.f32 %r12, %r10, %r11;",
              [](float a, float b) { return a / b; });
  checkFloats("fma.rn.f32 %r12, %r10, %r11, %r10;",
              [](float a, float b) { return std::fma(a, b, a); });
  checkFloats("sqrt.rn.f32 %r12, %r10;",
              [](float a, float) { return std::sqrt(a); });
  checkFloats("min.f32 %r12, %r10, %r11;", [](float a, float b) {
    return std::isnan(a)   ? b
           : std::isnan(b) ? a
           : a == b        ? (std::signbit(a) ? a : b)
                           : std::min(a, b);
  });
  checkFloats("max.NaN.f32 %r12, %r10, %r11;", [](float a, float b) {
    return std::isnan(a) || std::isnan(b) ? std::nanf("")
           : a == b                       ? (std::signbit(a) ? b : a)
                                          : std::max(a, b);
  });
  checkFloats("copysign.f32 %r12, %r10, %r11;",
              [](float a, float b) { return std::copysign(b, a); });
  // The upper words of two doubles.
  checkWords("mov.b64 %d5, {%r11, %r10};  mov.b64 %d6, {%r10, %r11};\n"
             "  copysign.f64 %d7, %d5, %d6;  mov.b64 {%r10, %r12}, %d7;",
             [](uint32_t a, uint32_t b) {
               return (b & 0x7fffffff) | (a & 0x80000000);
             });
}

TEST(Instructions, Conversions) {
  checkFloats("cvt.rni.f32.f32 %r12, %r10;",
              [](float a, float) { return std::nearbyint(a); });
  checkFloats("cvt.rmi.f32.f32 %r12, %r10;",
              [](float a, float) { return std::floor(a); });
  checkFloats("cvt.sat.f32.f32 %r12, %r10;", [](float a, float) {
    return std::isnan(a) || a <= 0 ? 0.0f : std::min(a, 1.0f);
  });
  checkFloats("cvt.rna.tf32.f32 %r12, %r10;", [](float a, float) {
    const uint32_t rounded = (bitCast<uint32_t>(a) + 0x1000) & 0xffffe000u;
    return std::isnan(a) ? a : bitCast<float>(rounded);
  });
  checkFloats("cvt.rn.f16.f32 %h10, %r10;\n  cvt.f32.f16 %r12, %h10;",
              [](float a, float) { return halfToFloat(floatToHalf(a)); });
  checkFloats("cvt.rn.bf16.f32 %h10, %r10;\n  cvt.f32.bf16 %r12, %h10;",
              [](float a, float) { return bfloatToFloat(floatToBfloat(a)); });
  // Conversions from floats to integers saturate, and NaN becomes 0.
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const std::vector<float> a = floats(seed);
    const std::vector<uint32_t> got =
        compute("cvt.rzi.s32.f32 %r12, %r10;", bitsOf(a), bitsOf(a));
    for (size_t i = 0; i < 32; ++i) {
      const double value = std::trunc(double(a[i]));
      const double clamped =
          std::min(std::max(value, -2147483648.0), 2147483647.0);
      EXPECT_EQ(int32_t(got[i]), std::isnan(a[i]) ? 0 : int32_t(clamped))
          << a[i];
    }
  }
  using u = uint32_t;
  checkWords("cvt.s32.s8 %r12, %r10;",
             [](u a, u) { return u(int32_t(int8_t(a))); });
  checkWords("cvt.u32.u16 %r12, %r10;", [](u a, u) { return a & 0xffff; });
  checkWords("cvt.sat.u8.s32 %r12, %r10;",
             [](u a, u) { return std::min(std::max(int32_t(a), 0), 255); });
  checkWords("cvt.rn.f32.u32 %r12, %r10;",
             [](u a, u) { return bitCast<u>(float(a)); });
}

TEST(Instructions, Halves) {
  checkFloats("cvt.rn.f16x2.f32 %r13, %r10, %r11;\n"
              "  mul.rn.f16x2 %r13, %r13, %r13;\n"
              "  mov.b32 {%h10, %h11}, %r13;\n  cvt.f32.f16 %r12, %h11;",
              [](float a, float) {
                const float half = halfToFloat(floatToHalf(a));
                return halfToFloat(floatToHalf(half * half));
              });
  checkFloats("cvt.rn.bf16x2.f32 %r13, %r10, %r11;\n"
              "  mov.b32 {%h10, %h11}, %r13;\n  cvt.f32.bf16 %r12, %h10;",
              [](float, float b) { return bfloatToFloat(floatToBfloat(b)); });
}

TEST(Instructions, Predicates) {
  using u = uint32_t;
  checkWords("setp.lt.s32 %p0|%p1, %r10, %r11;\n"
             "  selp.u32 %r12, 1, 0, %p0;\n  @%p1 add.u32 %r12, %r12, 2;",
             [](u a, u b) { return int32_t(a) < int32_t(b) ? 1 : 2; });
  checkWords("setp.hi.u32 %p0, %r10, %r11;\n"
             "  setp.ne.and.u32 %p1, %r10, 0, %p0;\n"
             "  selp.u32 %r12, 1, 0, %p1;",
             [](u a, u b) { return a > b && a ? 1 : 0; });
  for (uint32_t seed = 0; seed < 4; ++seed) {
    const std::vector<float> a = floats(seed), b = floats(seed + 7);
    const std::vector<uint32_t> got =
        compute("setp.ltu.f32 %p0, %r10, %r11;\n  selp.u32 %r12, 1, 0, %p0;",
                bitsOf(a), bitsOf(b));
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(got[i], u(!(a[i] >= b[i]))) << a[i] << ", " << b[i];
  }
}

TEST(Instructions, KindsOfFloats) {
  const float special[] = {0.0f,    -0.0f,     1.0f,          -2.5f,
                           1e-40f,  -1e-40f,   3.4028235e38f, INFINITY,
                           -INFINITY, NAN};
  std::vector<float> a(32);
  for (size_t i = 0; i < 32; ++i)
    a[i] = special[i % std::size(special)];
  auto check = [&](const std::string &kind, bool (*expected)(float)) {
    const std::vector<uint32_t> got =
        compute(("testp." + kind + ".f32 %p0, %r10;\n"
                 "  selp.u32 %r12, 1, 0, %p0;").c_str(),
                bitsOf(a), bitsOf(a));
    for (size_t i = 0; i < 32; ++i)
      EXPECT_EQ(got[i], uint32_t(expected(a[i]))) << kind << " of " << a[i];
  };
  check("finite", [](float x) { return std::isfinite(x); });
  check("infinite", [](float x) { return std::isinf(x); });
  check("number", [](float x) { return !std::isnan(x); });
  check("notanumber", [](float x) { return std::isnan(x); });
  check("normal", [](float x) { return std::isnormal(x); });
  check("subnormal",
        [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

TEST(Instructions, Lanes) {
  const std::vector<uint32_t> a = words(1), b = words(2);
  auto check = [&](const char *instruction, auto expected) {
    const std::vector<uint32_t> got = compute(instruction, a, b);
    for (uint32_t lane = 0; lane < 32; ++lane)
      EXPECT_EQ(got[lane], uint32_t(expected(lane)))
          << instruction << " in lane " << lane;
  };
  check("shfl.sync.bfly.b32 %r12, %r10, 5, 31, -1;",
        [&](uint32_t lane) { return a[lane ^ 5]; });
  check("shfl.sync.up.b32 %r12, %r10, 3, 0, -1;",
        [&](uint32_t lane) { return a[lane < 3 ? lane : lane - 3]; });
  check("shfl.sync.down.b32 %r12, %r10, 3, 31, -1;",
        [&](uint32_t lane) { return a[lane > 28 ? lane : lane + 3]; });
  check("shfl.sync.idx.b32 %r12, %r10, 6, 0x181f, -1;",
        [&](uint32_t lane) { return a[(lane & 24) | 6]; });
  check("redux.sync.max.s32 %r12, %r10, -1;", [&](uint32_t) {
    int32_t most = INT32_MIN;
    for (uint32_t value : a)
      most = std::max(most, int32_t(value));
    return most;
  });
  check("setp.lt.u32 %p0, %r0, 9;\n  vote.sync.ballot.b32 %r12, %p0, -1;",
        [](uint32_t) { return 0x1ff; });
  check("and.b32 %r13, %r0, 3;\n  match.any.sync.b32 %r12, %r13, -1;",
        [](uint32_t lane) { return 0x11111111u << (lane & 3); });
  // Lanes that took different branches reconverge.
  check("setp.lt.u32 %p0, %r0, 9;\n  @%p0 bra LESS;\n  mov.u32 %r12, 7;\n"
        "  bra MEET;\nLESS:\n  mov.u32 %r12, 5;\nMEET:\n"
        "  shfl.sync.bfly.b32 %r12, %r12, 16, 31, -1;",
        [](uint32_t lane) { return (lane ^ 16) < 9 ? 5 : 7; });
}

/// Multiplies A (16 x depth) and B (depth x 8) by mma. The functions return the
/// bits of an element by row and depth, or by depth and column.
template <typename A, typename B>
static std::vector<float> product(const char *types, unsigned depth,
                                  unsigned perRegister, unsigned bits, A a, B b,
                                  bool isInteger) {
  // Registers of A and B for each lane, in the order of the PTX ISA.
  const unsigned ofA = 16 * depth / 32 / perRegister, ofB = ofA / 2;
  std::vector<uint32_t> data;
  auto pack = [&](auto element) {
    uint32_t word = 0;
    for (unsigned i = 0; i < perRegister; ++i)
      word |= element(i) << (bits * i);
    return word;
  };
  for (unsigned r = 0; r < ofA; ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      data.push_back(pack([&](unsigned i) {
        return a(lane / 4 + 8 * (r % 2),
                 perRegister * (lane % 4 + 4 * (r / 2)) + i);
      }));
  for (unsigned r = 0; r < ofB; ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      data.push_back(pack([&](unsigned i) {
        return b(perRegister * (lane % 4 + 4 * r) + i, lane / 4);
      }));
  std::string body, listA, listB;
  for (unsigned r = 0; r < ofA + ofB; ++r) {
    const std::string name = "%r" + std::to_string(20 + r);
    body += "  ld.global.u32 " + name + ", [%d3+" + std::to_string(128 * r) +
            "];\n";
    std::string &list = r < ofA ? listA : listB;
    list += (list.empty() ? "" : ", ") + name;
  }
  const char *zero = "0";
  body += std::string("  mma.sync.aligned.m16n8k") + std::to_string(depth) +
          ".row.col." + types + " {%r50, %r51, %r52, %r53}, {" + listA +
          "}, {" + listB + "}, {" + zero + ", " + zero + ", " + zero + ", " +
          zero + "};\n";
  for (unsigned r = 0; r < 4; ++r)
    body += "  st.global.u32 [%d4+" + std::to_string(128 * r) + "], %r" +
            std::to_string(50 + r) + ";\n";
  TestGpu gpu;
  const uint64_t x = gpu.upload(data), y = gpu.memory.allocate(512);
  EXPECT_EQ(gpu.run(kernelOf(body), {1}, {32}, {x, y}, 0), "");
  const std::vector<uint32_t> raw = gpu.download<uint32_t>(y, 128);
  std::vector<float> result(128);
  for (unsigned r = 0; r < 4; ++r)
    for (unsigned lane = 0; lane < 32; ++lane)
      result[(lane / 4 + 8 * (r / 2)) * 8 + 2 * (lane % 4) + r % 2] =
          isInteger ? float(int32_t(raw[32 * r + lane]))
                    : bitCast<float>(raw[32 * r + lane]);
  return result;
}

TEST(Instructions, MatrixProducts) {
  auto valueA = [](unsigned row, unsigned k) {
    return int((row * 7 + k * 3) % 11) - 5;
  };
  auto valueB = [](unsigned k, unsigned column) {
    return int((k * 5 + column * 9) % 13) - 6;
  };
  auto check = [&](const std::vector<float> &got, unsigned depth,
                   const char *name) {
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned column = 0; column < 8; ++column) {
        int sum = 0;
        for (unsigned k = 0; k < depth; ++k)
          sum += valueA(row, k) * valueB(k, column);
        EXPECT_EQ(got[row * 8 + column], float(sum))
            << name << " at " << row << ", " << column;
      }
  };
  auto half = [](int value) { return uint32_t(floatToHalf(float(value))); };
  auto bfloat = [](int value) { return uint32_t(floatToBfloat(float(value))); };
  auto tf32 = [](int value) { return floatToTf32(float(value)); };
  auto byte = [](int value) { return uint32_t(uint8_t(value)); };
#define INGOT_CHECK(TYPES, DEPTH, PER, BITS, OF, IS_INTEGER)                   \
  check(product(                                                               \
            TYPES, DEPTH, PER, BITS,                                           \
            [&](unsigned row, unsigned k) { return OF(valueA(row, k)); },      \
            [&](unsigned k, unsigned n) { return OF(valueB(k, n)); },          \
            IS_INTEGER),                                                       \
        DEPTH, TYPES)
  INGOT_CHECK("f32.f16.f16.f32", 16, 2, 16, half, false);
  INGOT_CHECK("f32.f16.f16.f32", 8, 2, 16, half, false);
  INGOT_CHECK("f32.bf16.bf16.f32", 16, 2, 16, bfloat, false);
  INGOT_CHECK("f32.bf16.bf16.f32", 8, 2, 16, bfloat, false);
  INGOT_CHECK("f32.tf32.tf32.f32", 8, 1, 32, tf32, false);
  INGOT_CHECK("f32.tf32.tf32.f32", 4, 1, 32, tf32, false);
  INGOT_CHECK("s32.s8.s8.s32", 32, 4, 8, byte, true);
  INGOT_CHECK("s32.s8.s8.s32", 16, 4, 8, byte, true);
#undef INGOT_CHECK
}

/// Sums of type f16 equal sums in f32 that are rounded once.
TEST(Instructions, MatrixProductsWithSums) {
  for (const char *shape : {"16", "8"}) {
    const bool isDeep = shape[0] == '1';
    const std::string a = isDeep ? "{%r20, %r21, %r22, %r23}" : "{%r20, %r21}";
    const std::string b = isDeep ? "{%r24, %r25}" : "{%r24}";
    std::string body = "  and.b32 %r6, %r0, 3;\n"
                       "  mul.lo.u32 %r6, %r6, 67109888;\n"
                       "  cvt.rn.f32.u32 %f0, %r0;\n";
    // Powers of two, from 1/2 on.
    for (unsigned r = 0; r < 6; ++r)
      body += "  add.u32 %r" + std::to_string(20 + r) + ", %r6, " +
              std::to_string(0x3800bc00u + 0x400u * r) + ";\n";
    for (unsigned r = 1; r < 5; ++r)
      body += "  add.f32 %f" + std::to_string(r) +
              ", %f0, 0f3F800000;\n"
              "  add.f32 %f0, %f0, 0f40400000;\n";
    const std::string mma =
        std::string("  mma.sync.aligned.m16n8k") + shape + ".row.col.";
    const std::string pack = "  cvt.rn.f16x2.f32 ";
    body += pack + "%r30, %f2, %f1;\n" + pack + "%r31, %f4, %f3;\n" + mma +
            "f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, " + a + ", " + b +
            ", {%f1, %f2, %f3, %f4};\n" + mma +
            "f16.f16.f16.f16 {%r30, %r31}, " + a + ", " + b +
            ", {%r30, %r31};\n" + pack + "%r32, %f2, %f1;\n" + pack +
            "%r33, %f4, %f3;\n";
    for (unsigned r = 0; r < 4; ++r)
      body += "  st.global.u32 [%d4+" + std::to_string(128 * r) + "], %r" +
              std::to_string(30 + r) + ";\n";
    TestGpu gpu;
    const uint64_t x = gpu.memory.allocate(512), y = gpu.memory.allocate(512);
    ASSERT_EQ(gpu.run(kernelOf(body), {1}, {32}, {x, y}, 0), "");
    const std::vector<uint32_t> got = gpu.download<uint32_t>(y, 128);
    for (unsigned i = 0; i < 64; ++i)
      EXPECT_EQ(got[i], got[64 + i]) << "depth " << shape << " at " << i;
    EXPECT_NE(got[0], got[63]);
  }
}

TEST(Instructions, Atomics) {
  for (uint64_t seed = 0; seed < 16; ++seed) {
    TestGpu gpu;
    const uint64_t x = gpu.upload(std::vector<uint32_t>{0, 0, 100}),
                   y = gpu.memory.allocate(4 * 4 * 64);
    ASSERT_EQ(gpu.run(kernelOf("  mad.lo.u32 %r6, %r1, 256, %r3;\n"
                               "  cvt.u64.u32 %d5, %r6;\n"
                               "  add.u64 %d5, %d1, %d5;\n"
                               "  atom.global.add.u32 %r7, [%d0], 1;\n"
                               "  red.global.max.u32 [%d0+4], %r6;\n"
                               "  red.global.min.u32 [%d0+8], %r6;\n"
                               "  st.global.u32 [%d5], %r7;"),
                      {4}, {64}, {x, y}, seed),
              "");
    // Each thread got another number from the atomic.
    std::vector<uint32_t> drawn = gpu.download<uint32_t>(y, 256);
    std::sort(drawn.begin(), drawn.end());
    for (uint32_t i = 0; i < 256; ++i)
      EXPECT_EQ(drawn[i], i);
    EXPECT_EQ(gpu.download<uint32_t>(x, 3),
              (std::vector<uint32_t>{256, 3 * 256 + 63 * 4, 0}));
  }
}
