//===- TextTest.cpp - output of run and inspect -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Text.h"
#include "client/Values.h"
#include "client/run/Outputs.h"

#include <gtest/gtest.h>

#include <math.h>
#include <string.h>

using namespace ingot::tools;

namespace {

TEST(Text, Shapes) {
  int64_t dims[] = {1, -1, -1};
  const char *names[] = {"", "width", ""};
  EXPECT_EQ(formatShape(dims, 3), "1x?x?");
  EXPECT_EQ(formatShape(dims, 3, names), "1x<width>x?");
  EXPECT_EQ(formatShape(nullptr, 0), "scalar");
}

TEST(Text, Bytes) {
  EXPECT_EQ(formatBytes(640), "640 bytes");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB (1536 bytes)");
  EXPECT_EQ(formatBytes(102236720), "97.5 MiB (102236720 bytes)");
}

TEST(Text, Lines) {
  EXPECT_EQ(formatLine("a\nb\tc\x01", 80), "a\\nb\\tc\\x01");
  EXPECT_EQ(formatLine("a\xc2\x9b\x7f", 80), "a\\u009B\\x7F");
  EXPECT_EQ(formatLine("abcdef", 3), "abc...");
  EXPECT_EQ(formatLine("\xc3\xa9\xff", 80), "\xc3\xa9\xef\xbf\xbd");
  EXPECT_EQ(formatLine("\xc3\xa9\xc3\xa9", 3), "\xc3\xa9...");
}

TEST(Text, Json) {
  EXPECT_EQ(formatJson("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
  EXPECT_EQ(formatJson("\xe4\xb8\xad"), "\"\xe4\xb8\xad\"");
  // Invalid UTF-8: a lone byte, an overlong form, a surrogate, a cut sequence.
  EXPECT_EQ(formatJson("\x80"), "\"\\ufffd\"");
  EXPECT_EQ(formatJson("\xc0\xaf"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(formatJson("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
  EXPECT_EQ(formatJson("\xe4\xb8"), "\"\\ufffd\\ufffd\"");
}

TEST(Text, OutputFileNames) {
  EXPECT_EQ(outputFileNames({"y", "/head/Add:0", "../x", "", "_head_Add_0"}),
            (std::vector<std::string>{"y.npy", "_head_Add_0.npy", "_._x.npy",
                                      "output.npy", "_head_Add_0_2.npy"}));
}

TEST(Values, HalfPrecision) {
  Array array;
  array.dtype = INGOT_FLOAT16;
  const uint16_t bits[] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x8000};
  array.dims = {6};
  array.data.resize(sizeof(bits));
  memcpy(array.data.data(), bits, sizeof(bits));
  std::vector<double> values = toDoubles(array);
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], -2);
  EXPECT_EQ(values[2], 65504);
  EXPECT_EQ(values[3], ldexp(1, -24));
  EXPECT_TRUE(isinf(values[4]));
  EXPECT_EQ(values[5], 0);
}

TEST(Values, ElementsOfEightBitsAndLess) {
  auto read = [](ingot_dtype dtype, std::vector<unsigned char> data,
                 int64_t count) {
    Array array;
    array.dtype = dtype;
    array.dims = {count};
    array.data = std::move(data);
    return toDoubles(array);
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(read(INGOT_FLOAT8E4M3FN, {0x38, 0x7e, 0x81, 0x08}, 4),
            (Numbers{1, 448, -0x1p-9, 0x1p-6}));
  EXPECT_EQ(read(INGOT_FLOAT8E4M3FNUZ, {0x40, 0x7f, 0x01}, 3),
            (Numbers{1, 240, 0x1p-10}));
  EXPECT_EQ(read(INGOT_FLOAT8E5M2, {0x3c, 0x7b, 0xfc, 0x01}, 4),
            (Numbers{1, 57344, -INFINITY, 0x1p-16}));
  EXPECT_EQ(read(INGOT_FLOAT8E5M2FNUZ, {0x40, 0xff}, 2),
            (Numbers{1, -57344}));
  EXPECT_EQ(read(INGOT_FLOAT8E8M0, {0x7f, 0x00, 0xfe}, 3),
            (Numbers{1, 0x1p-127, 0x1p127}));
  for (auto [dtype, code] : {std::pair(INGOT_FLOAT8E4M3FN, 0xff),
                             std::pair(INGOT_FLOAT8E4M3FNUZ, 0x80),
                             std::pair(INGOT_FLOAT8E5M2, 0x7d),
                             std::pair(INGOT_FLOAT8E8M0, 0xff)})
    EXPECT_TRUE(isnan(
        read(dtype, {static_cast<unsigned char>(code)}, 1).front()));
  // Low bits first; the last byte is not full.
  EXPECT_EQ(read(INGOT_FLOAT4E2M1, {0x72, 0x09}, 3), (Numbers{1, 6, -0.5}));
  EXPECT_EQ(read(INGOT_FLOAT6E2M3, {0x08, 0xf0, 0x01}, 3),
            (Numbers{1, 0, 7.5}));
  EXPECT_EQ(read(INGOT_INT4, {0x8f, 0x07}, 3), (Numbers{-1, -8, 7}));
  EXPECT_EQ(read(INGOT_UINT4, {0x8f}, 2), (Numbers{15, 8}));
  EXPECT_EQ(read(INGOT_INT2, {0xe4}, 4), (Numbers{0, 1, -2, -1}));
  EXPECT_EQ(read(INGOT_UINT2, {0xe4}, 4), (Numbers{0, 1, 2, 3}));
}

TEST(Values, RandomIsTheSameForTheSameSeed) {
  for (ingot_dtype dtype : {INGOT_FLOAT, INGOT_DOUBLE, INGOT_FLOAT16,
                            INGOT_BFLOAT16, INGOT_INT64, INGOT_BOOL,
                            INGOT_FLOAT8E4M3FN, INGOT_FLOAT4E2M1}) {
    Array a, b, c;
    a.dtype = b.dtype = c.dtype = dtype;
    for (Array *array : {&a, &b, &c}) {
      array->dims = {1000};
      array->data.resize(1000 * ingot_dtype_bits(dtype) / 8);
    }
    fillRandom(a, 5);
    fillRandom(b, 5);
    fillRandom(c, 6);
    EXPECT_EQ(a.data, b.data);
    EXPECT_NE(a.data, c.data);
    double sum = 0;
    for (double value : toDoubles(a)) {
      EXPECT_GE(value, -1);
      EXPECT_LE(value, 1);
      sum += value;
    }
    EXPECT_NEAR(sum / 1000,
                dtype == INGOT_INT64 || dtype == INGOT_BOOL ? 0.5 : 0, 0.1);
  }
}

TEST(Values, Statistics) {
  Array array;
  array.dtype = INGOT_FLOAT;
  const float values[] = {1, NAN, -2, INFINITY, 4};
  array.dims = {5};
  array.data.resize(sizeof(values));
  memcpy(array.data.data(), values, sizeof(values));
  Statistics statistics = summarize(array);
  EXPECT_EQ(statistics.least, "-2");
  EXPECT_EQ(statistics.largest, "4");
  EXPECT_EQ(statistics.mean, "1");
  EXPECT_EQ(statistics.notNumbers, 2u);
  EXPECT_EQ(statistics.first, "1, nan, -2, inf, ...");
  array.data.clear();
  EXPECT_EQ(summarize(array).mean, "-");
}

} // namespace
