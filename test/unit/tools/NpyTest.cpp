//===- NpyTest.cpp - reading and writing .npy files ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Npy.h"

#include <gtest/gtest.h>

#include <random>
#include <string.h>
#include <unistd.h>

using namespace ingot::tools;

namespace {

/// A file with the given header dictionary and data.
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
  // An exact copy, so that ASan sees each read beyond the end.
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
  // Nothing, whose strides have no number.
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
  // One line, whatever the header holds.
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

TEST(Npy, WriteThenRead) {
  char path[] = "/tmp/ingot-test-XXXXXX";
  close(mkstemp(path));
  for (ingot_dtype dtype = 1; dtype <= 16; ++dtype) {
    if (!ingot_dtype_size(dtype))
      continue;
    for (std::vector<int64_t> dims :
         {std::vector<int64_t>{}, {5}, {2, 3}, {0, 2}, {1, 2, 3, 4}}) {
      Array array, again;
      array.dtype = dtype;
      array.dims = dims;
      uint64_t bytes;
      ASSERT_TRUE(denseBytes(dims, ingot_dtype_size(dtype), bytes));
      for (uint64_t i = 0; i < bytes; ++i)
        array.data.push_back(static_cast<unsigned char>(i * 7));
      ASSERT_EQ(writeNpy(path, array), "");
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

} // namespace
