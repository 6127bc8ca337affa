//===- Npy.h - NumPy's .npy files ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_NPY_H
#define INGOT_TOOLS_INGOT_NPY_H

#include "ingot/ingot.h"

#include <functional>
#include <string>
#include <vector>

namespace ingot::tools {

/// A dense, row-major tensor in memory.
struct Array {
  ingot_dtype dtype = 0;
  std::vector<int64_t> dims;
  std::vector<unsigned char> data;
};

/// Product of the sizes times `elementBytes`; false if negative or too large.
bool denseBytes(const std::vector<int64_t> &dims, uint64_t elementBytes,
                uint64_t &bytes);

/// Looks at type and shape before the data is read; returns what is wrong.
using NpyCheck = std::function<std::string(const Array &)>;

/// Reads format versions 1 to 3, either byte order, C or Fortran order, from a
/// regular file. Empty string, or what is wrong with the file.
std::string readNpy(const std::string &path, Array &array,
                    const NpyCheck &check = {});

/// How the data of an array lies in its file.
struct NpyOrder {
  bool isSwapped = false, isFortran = false;
  uint64_t dataBytes = 0;
};

/// Reads the next so many bytes; returns what is wrong.
using NpyRead = std::function<std::string(void *data, uint64_t bytes)>;

/// Reads type and shape, up to the data, of a file of `size` bytes.
std::string readNpyHeader(const NpyRead &read, uint64_t size, Array &array,
                          NpyOrder &order);

/// Makes elements as they were read little-endian and row-major.
void reorder(const NpyOrder &order, Array &array);

/// What readNpy does, from memory.
std::string parseNpy(const unsigned char *bytes, uint64_t size, Array &array);

/// Writes format version 1. bfloat16, which NumPy lacks, becomes raw '<V2' as
/// ml_dtypes writes it.
std::string writeNpy(const std::string &path, const Array &array);
std::string writeNpy(int descriptor, const Array &array);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_NPY_H
