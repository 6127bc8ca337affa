//===- NpyTest.cpp - reading and writing .npy files ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Npy.h"

#include <gtest/gtest.h>

#include <random>
#include <string.h>
#include <unistd.h>

using namespace ingot::tools;

namespace {

/// Returns a file with the given header dictionary and data.
std::string file(const std::string &header, const std::string &data,
                 unsigned version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += char(version);
  bytes += char(0);
  for (unsigned i = 0; i < (version == 1 ? 2u : 4u); ++i)
    bytes += char(header.size() >> (8 * i));
  return bytes + header + data;
}

std::string parse(const std::string &bytes, Array &array) {
  // Copies exactly the bytes, so that ASan sees each read beyond the end.
  std::vector<unsigned char> copy(bytes.begin(), bytes.end());
  copy.shrink_to_fit();
  return parseNpy(copy.data(), copy.size(), array);
}

std::string problem(const std::string &bytes) {
  Array array;
  return parse(bytes, array);
}

std::string floats(std::initializer_list<float> values) {
  std::string data(values.size() * 4, 0);
  memcpy(data.data(), values.begin(), data.size());
  return data;
}

std::vector<float> asFloats(const Array &array) {
  std::vector<float> values(array.data.size() / 4);
  memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

TEST(Npy, COrder) {
  Array array;
  for (unsigned version : {1u, 2u, 3u}) {
    ASSERT_EQ(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(2, 3), }     \n",
                         floats({1, 2, 3, 4, 5, 6}), version),
                    array),
              "");
    EXPECT_EQ(array.dtype, uint32_t(INGOT_FLOAT));
    EXPECT_EQ(array.dims, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(asFloats(array), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(Npy, FortranOrder) {
  Array array;
  // An empty array, whose strides overflow.
  EXPECT_EQ(parse(file("{'descr': '<f4', 'fortran_order': True, 'shape': "
                       "(4294967296, 4294967296, 2, 0, 4294967296)}",
                       ""),
                  array),
            "");
  ASSERT_EQ(parse(file("{'descr': '<f4', 'fortran_order': True, 'shape': "
                       "(2, 3), }\n",
                       floats({1, 4, 2, 5, 3, 6})),
                  array),
            "");
  EXPECT_EQ(asFloats(array), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  // [i][j][k] = 100 i + 10 j + k, two each.
  ASSERT_EQ(parse(file("{'shape': (2, 2, 2), 'fortran_order': True, 'descr': "
                       "\"<f4\"}",
                       floats({0, 100, 10, 110, 1, 101, 11, 111})),
                  array),
            "");
  EXPECT_EQ(asFloats(array),
            (std::vector<float>{0, 1, 10, 11, 100, 101, 110, 111}));
}

TEST(Npy, BigEndian) {
  Array array;
  ASSERT_EQ(parse(file("{'descr': '>i4', 'fortran_order': False, 'shape': "
                       "(1,)}",
                       std::string("\0\0\1\2", 4)),
                  array),
            "");
  int32_t value;
  memcpy(&value, array.data.data(), 4);
  EXPECT_EQ(value, 258);
}

TEST(Npy, ScalarAndEmpty) {
  Array array;
  EXPECT_EQ(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
                       floats({7})),
                  array),
            "");
  EXPECT_TRUE(array.dims.empty());
  EXPECT_EQ(parse(file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                       "(3, 0)}",
                       ""),
                  array),
            "");
  EXPECT_EQ(array.dims, (std::vector<int64_t>{3, 0}));
}

TEST(Npy, Damaged) {
  EXPECT_EQ(problem(""), "it is not an .npy file");
  EXPECT_EQ(problem("PK\3\4 a zip file"), "it is not an .npy file");
  EXPECT_EQ(problem(file("{}", "", 9)), "its format version 9 is unknown");
  EXPECT_EQ(problem(file(std::string(200, ' '), "").substr(0, 100)),
            "it is truncated");
  EXPECT_EQ(problem(file("[]", "")), "its header is not a dictionary");
  EXPECT_EQ(problem(file("{}", "")),
            "its header lacks descr, fortran_order or shape");
  EXPECT_EQ(problem(file("{1: 2}", "")),
            "its header has no key where one belongs");
  EXPECT_EQ(problem(file("{'color': 'red'}", "")),
            "its header has a bad entry 'color'");
  // Messages have one line for any header.
  for (const char *header : {"{'a\nb': 1}", "{'descr': '<\n4', 'shape': (), "
                                            "'fortran_order': False}"})
    EXPECT_EQ(problem(file(header, "")).find('\n'), std::string::npos);
  EXPECT_EQ(problem(file("{'descr': [('a', '<f4')]}", "")),
            "its element type is not a plain one");
  auto shaped = [](const std::string &shape) {
    return file("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape +
                    "}",
                "");
  };
  EXPECT_EQ(problem(shaped("(-1,)")), "its header has a bad entry 'shape'");
  EXPECT_EQ(problem(shaped("(99999999999999999999,)")),
            "its header has a bad entry 'shape'");
  EXPECT_EQ(problem(shaped("(4611686018427387904, 4)")),
            "its shape is impossibly large");
  EXPECT_EQ(problem(shaped("(2,)")),
            "its shape needs 8 bytes of data, but it has 0");
  EXPECT_EQ(problem(file("{'descr': '|O', 'fortran_order': False, 'shape': "
                         "()}",
                         "")),
            "its element type '|O' is not supported");
  EXPECT_EQ(problem(file("{'descr': '<c8', 'fortran_order': False, 'shape': "
                         "()}",
                         "12345678")),
            "its element type '<c8' is not supported");
}

TEST(Npy, EveryTruncationIsRefused) {
  std::string whole = file("{'descr': '<f4', 'fortran_order': False, 'shape': "
                           "(2, 3), }\n",
                           floats({1, 2, 3, 4, 5, 6}));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(problem(whole.substr(0, size)), "") << size;
}

TEST(Npy, RandomDamage) {
  std::string whole = file("{'descr': '<f4', 'fortran_order': True, 'shape': "
                           "(2, 3), }\n",
                           floats({1, 2, 3, 4, 5, 6}));
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k)
      damaged[random() % damaged.size()] = char(random());
    problem(damaged);
  }
}

std::vector<std::string> strings(const Array &array) {
  std::vector<std::string> all;
  for (uint64_t i = 0; i + 1 < array.data.size() / sizeof(int64_t); ++i)
    all.emplace_back(stringAt(array, i));
  return all;
}

/// Returns characters of four bytes each, in the machine's byte order or
/// swapped.
std::string wide(const std::u32string &text, bool isSwapped = false) {
  std::string data;
  for (char32_t c : text)
    for (int i = 0; i < 4; ++i)
      data += char(c >> 8 * (isSwapped ? 3 - i : i));
  return data;
}

TEST(Npy, Strings) {
  const std::u32string text(U"aé\U0001d11e\0b\0\0\0", 8);
  const std::vector<std::string> right = {"aé\U0001d11e", "b"};
  for (bool isSwapped : {false, true}) {
    Array array;
    ASSERT_EQ(parse(file(std::string("{'descr': '") + (isSwapped ? ">" : "<") +
                             "U4', 'fortran_order': False, 'shape': (2,)}",
                         wide(text, isSwapped)),
                    array),
              "");
    EXPECT_EQ(array.dtype, uint32_t(INGOT_STRING));
    EXPECT_EQ(strings(array), right);
  }
  Array array;
  ASSERT_EQ(parse(file("{'descr': '|S2', 'fortran_order': True, 'shape': "
                       "(2, 2)}",
                       std::string("a\0cc\0b\xff\0", 8)),
                  array),
            "");
  EXPECT_EQ(strings(array),
            (std::vector<std::string>{"a", std::string("\0b", 2), "cc",
                                      "\xff"}));
  ASSERT_EQ(parse(file("{'descr': '<U1', 'fortran_order': False, 'shape': "
                       "(0, 3)}",
                       ""),
                  array),
            "");
  EXPECT_EQ(array.data.size(), sizeof(int64_t));
}

TEST(Npy, WrongStrings) {
  const std::string rest = "', 'fortran_order': False, 'shape': (2,)}";
  for (const char *type : {"<U0", "<U", "<U99999999999", "<Ux", "<V4", "U4"})
    EXPECT_EQ(problem(file("{'descr': '" + std::string(type) + rest, "")),
              "its element type '" + std::string(type) + "' is not supported");
  for (char32_t c : {char32_t(0xd800), char32_t(0xdfff), char32_t(0x110000),
                     char32_t(0xffffffff)})
    EXPECT_EQ(problem(file("{'descr': '<U1" + rest, wide({U'a', c}))),
              "its element 1 has bytes that are not characters");
  EXPECT_EQ(problem(file("{'descr': '<U99999999" + rest, "abcd")),
            "its shape needs 799999992 bytes of data, but it has 4");
}

TEST(Npy, WriteStrings) {
  char path[] = "/tmp/ingot-test-XXXXXX";
  close(mkstemp(path));
  const std::vector<std::string> all[] = {
      {},
      {"", ""},
      {"a", "é€\U0001d11e", std::string("b\0c", 3)},
      {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc3", "é"},
  };
  for (const std::vector<std::string> &words : all) {
    Array array, again;
    array.dtype = INGOT_STRING;
    array.dims = {int64_t(words.size())};
    array.data.assign(sizeof(int64_t), 0);
    for (const std::string &word : words)
      appendString(array, word);
    ASSERT_EQ(writeNpy(path, array), "");
    ASSERT_EQ(readNpy(path, again), "");
    EXPECT_EQ(strings(again), words);
    EXPECT_EQ(again.dims, array.dims);
  }
  remove(path);
}

TEST(Npy, WriteThenRead) {
  char path[] = "/tmp/ingot-test-XXXXXX";
  close(mkstemp(path));
  for (ingot_dtype dtype = 1; dtype <= 32; ++dtype) {
    if (!ingot_dtype_size(dtype) || dtype == INGOT_STRING)
      continue;
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{}, {5}, {2, 3}, {0, 2}, {1, 2, 3, 4}}) {
      Array array, again;
      array.dtype = dtype;
      array.dims = dims;
      uint64_t bytes;
      ASSERT_TRUE(denseBytes(dims, dtype, bytes));
      for (uint64_t i = 0; i < bytes; ++i)
        array.data.push_back(static_cast<unsigned char>(i * 7));
      // Unused bits of the last byte are zero.
      uint64_t count = 1;
      for (int64_t dim : dims)
        count *= uint64_t(dim);
      if (uint64_t used = count * ingot_dtype_bits(dtype) % 8)
        array.data.back() &= static_cast<unsigned char>((1 << used) - 1);
      ASSERT_EQ(writeNpy(path, array), "");
      // Types without a NumPy name are read as the wanted type.
      bool isNamed = dtype <= INGOT_BFLOAT16;
      again.dtype = isNamed ? 0 : dtype;
      ASSERT_EQ(readNpy(path, again), "");
      EXPECT_EQ(again.dtype, dtype);
      EXPECT_EQ(again.dims, dims);
      EXPECT_EQ(again.data, array.data);
    }
  }
  remove(path);
  Array array;
  EXPECT_EQ(readNpy("/no/such/file", array), "No such file or directory");
  EXPECT_NE(writeNpy("/no/such/dir/x.npy", array), "");
}

/// Reads a file of two elements of a byte.
std::string twoBytes(const char *descr, const char *data, ingot_dtype wanted,
                     Array &array) {
  std::string header = std::string("{'descr': '") + descr +
                       "', 'fortran_order': False, 'shape': (2,), }\n";
  std::string file = std::string("\x93NUMPY\x01\x00", 8) +
                     char(header.size()) + '\0' + header +
                     std::string(data, 2);
  array.dtype = wanted;
  return parseNpy(reinterpret_cast<const unsigned char *>(file.data()),
                  file.size(), array);
}

TEST(Npy, WhatNumPyHasNoNameFor) {
  Array array;
  // Form of ml_dtypes: one byte per element.
  EXPECT_EQ(twoBytes("<V1", "\x03\x0d", INGOT_INT4, array), "");
  EXPECT_EQ(array.dtype, uint32_t(INGOT_INT4));
  EXPECT_EQ(array.data, std::vector<unsigned char>{0xd3});
  EXPECT_EQ(twoBytes("<f1", "\x03\x7d", INGOT_FLOAT8E5M2, array), "");
  EXPECT_EQ(array.dtype, uint32_t(INGOT_FLOAT8E5M2));
  // Integers that fit.
  EXPECT_EQ(twoBytes("|i1", "\x07\xf8", INGOT_INT4, array), "");
  EXPECT_EQ(array.data, std::vector<unsigned char>{0x87});
  EXPECT_EQ(twoBytes("|i1", "\x07\xf7", INGOT_INT4, array),
            "its element 1 is -9, which no int4 can be");
  EXPECT_EQ(twoBytes("|u1", "\x04\x01", INGOT_UINT2, array),
            "its element 0 is 4, which no uint2 can be");
  // Data in this form is only accepted if the type is wanted.
  EXPECT_EQ(twoBytes("<V1", "\x01\x02", 0, array),
            "its element type '<V1' is not supported");
  EXPECT_EQ(twoBytes("|i1", "\x01\x02", INGOT_FLOAT, array), "");
  EXPECT_EQ(array.dtype, uint32_t(INGOT_INT8));
}

} // namespace
