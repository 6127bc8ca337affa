//===- RoundingTest.cpp - how an emulated GPU rounds ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/emugpu/TestGpu.h"
#include "tools/emugpu/Numbers.h"

#include <gtest/gtest.h>

#include <limits>

using namespace emugpu;
using namespace emugpu::test;

/// Runs `instruction` on 32 words in %d5, which writes %r12. Returns the 32
/// results.
static std::vector<uint32_t> compute(const std::string &instruction,
                                     std::vector<uint64_t> words) {
  words.resize(32);
  TestGpu gpu;
  const uint64_t x = gpu.upload(words), y = gpu.memory.allocate(128);
  const std::string report =
      gpu.run(kernelOf("  .reg .b16 %h10;\n"
                       "  add.u64 %d6, %d3, %d2;\n"
                       "  ld.global.u64 %d5, [%d6];\n  mov.b32 %r12, 0;\n  " +
                       instruction + "\n  st.global.u32 [%d4], %r12;"),
              {1}, {32}, {x, y}, 0);
  EXPECT_EQ(report, "") << instruction;
  return gpu.download<uint32_t>(y, 32);
}

/// A value that is close to the middle of two halves is rounded once.
TEST(Rounding, HalvesRoundOnce) {
  struct Case {
    double value;
    float half, bfloat;
  };
  const float infinity = std::numeric_limits<float>::infinity();
  const Case cases[] = {
      {1 + 0x1p-11, 1, 1},
      {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10, 1},
      {1 + 0x1p-11 - 0x1p-40, 1, 1},
      {-1 - 0x3p-11 + 0x1p-40, -1 - 0x1p-10, -1},
      {1 + 0x1p-8 + 0x1p-50, 1 + 0x1p-8, 1 + 0x1p-7},
      {65520 - 0x1p-30, 65504, 65536},
      {65520, infinity, 65536},
      {0x1p-25 + 0x1p-70, 0x1p-24, 0x1p-25},
      {0x1p-25, 0, 0x1p-25},
      {1e300, infinity, infinity},
      {-1e-300, -0.0f, -0.0f},
  };
  std::vector<uint64_t> words;
  for (const Case &each : cases)
    words.push_back(toBits(each.value));
  const std::vector<uint32_t>
      half = compute("cvt.rn.f16.f64 %h10, %d5;  cvt.f32.f16 %r12, %h10;",
                     words),
      bfloat = compute("cvt.rn.bf16.f64 %h10, %d5;  cvt.f32.bf16 %r12, %h10;",
                       words);
  for (size_t i = 0; i < std::size(cases); ++i) {
    EXPECT_EQ(half[i], bitCast<uint32_t>(cases[i].half)) << cases[i].value;
    EXPECT_EQ(bfloat[i], bitCast<uint32_t>(cases[i].bfloat)) << cases[i].value;
  }
  // A value above the middle of two values.
  const uint64_t whole = (uint64_t(1) << 40) + (uint64_t(1) << 32) + 1;
  const std::vector<uint32_t> got =
      compute("cvt.rn.bf16.s64 %h10, %d5;  cvt.f32.bf16 %r12, %h10;", {whole});
  EXPECT_EQ(bitCast<float>(got[0]), 0x1p40f + 0x1p33f);
}

/// Kernels compute as GPUs do, whatever the thread that waits has set.
TEST(Rounding, IgnoresTheStateOfTheProgram) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(0x9fc0 | _MM_ROUND_UP); // denormal numbers count as zero
  const std::vector<uint32_t>
      twice = compute("cvt.u32.u64 %r10, %d5;  add.f32 %r12, %r10, %r10;",
                      {0x00012345}),
      third = compute("cvt.u32.u64 %r10, %d5;\n"
                      "  div.rn.f32 %r12, 0f3F800000, %r10;",
                      {bitCast<uint32_t>(3.0f)});
  const unsigned after = _mm_getcsr() & ~_MM_EXCEPT_MASK;
  _mm_setcsr(before);
  EXPECT_EQ(twice[0], 0x0002468au);
  EXPECT_EQ(third[0], 0x3eaaaaabu);
  EXPECT_EQ(after, (0x9fc0u | _MM_ROUND_UP) & ~_MM_EXCEPT_MASK);
}
