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
#include <string_view>
#include <vector>

namespace ingot::tools {

/// A dense, row-major tensor in memory, packed as the C API takes it.
struct Array {
  ingot_dtype dtype = 0;
  std::vector<int64_t> dims;
  std::vector<unsigned char> data;
  std::string text; ///< of strings, whose offsets are the data
};

/// Bytes that a tensor takes, of strings their offsets; false if a size is
/// negative or they are too many.
bool denseBytes(const std::vector<int64_t> &dims, ingot_dtype dtype,
                uint64_t &bytes);

/// Looks at type and shape before the data is read; returns what is wrong.
using NpyCheck = std::function<std::string(const Array &)>;

/// Reads format versions 1 to 3, either byte order, C or Fortran order, from a
/// regular file. Empty string, or what is wrong with the file.
///
/// Strings are '<U8' or '|S8': UTF-8 in memory, without the nulls at the end.
///
/// NumPy has no name for floats of eight bits and less, nor for integers of
/// less than a byte: ml_dtypes writes a byte each, of raw '|V1'. Where
/// `array.dtype` is such a type beforehand, those bytes are it, and so are
/// plain integers of a byte that fit. Otherwise it must be 0.
std::string readNpy(const std::string &path, Array &array,
                    const NpyCheck &check = {});

/// How the data of an array lies in its file.
struct NpyOrder {
  bool isSwapped = false, isFortran = false;
  uint64_t dataBytes = 0;
  /// Each element is a byte of its own, to be packed.
  bool isLoose = false;
  /// The bytes are numbers of the type, not its bits alone.
  bool isNumbers = false;
  /// Of strings: bytes of a character, and characters of each; else 0.
  uint64_t charBytes = 0, chars = 0;

  /// Bytes of an element in the file.
  uint64_t elementBytes(ingot_dtype dtype) const {
    return charBytes ? charBytes * chars : ingot_dtype_size(dtype);
  }
};

/// Reads the next so many bytes; returns what is wrong.
using NpyRead = std::function<std::string(void *data, uint64_t bytes)>;

/// Reads an array of `size` bytes as readNpy above does, from elsewhere.
std::string readNpy(const NpyRead &read, uint64_t size, Array &array,
                    const NpyCheck &check);

/// Reads type and shape, up to the data, of a file of `size` bytes.
std::string readNpyHeader(const NpyRead &read, uint64_t size, Array &array,
                          NpyOrder &order);

/// Makes elements as they were read little-endian, row-major and packed. Empty
/// string, or which of them the type does not have.
std::string reorder(const NpyOrder &order, Array &array);

/// The bits of element i.
unsigned packedElement(const Array &array, uint64_t i);

/// What readNpy does, from memory.
std::string parseNpy(const unsigned char *bytes, uint64_t size, Array &array);

/// Makes strings of characters as they were read, little-endian and row-major.
/// Empty string, or which of them are no characters.
std::string readStrings(const NpyOrder &order, Array &array);
/// What is written of an array of strings: its type, and its characters. Bytes
/// that are no UTF-8 are written as they are, '|S8'.
std::string writeStrings(const Array &array, std::string &descr);
/// String i of an array.
std::string_view stringAt(const Array &array, uint64_t i);
void appendString(Array &array, std::string_view text);

/// Writes format version 1. What NumPy lacks is written as ml_dtypes does:
/// bfloat16 as raw '<V2', what has eight bits or less as raw '|V1', a byte an
/// element.
std::string writeNpy(const std::string &path, const Array &array);
std::string writeNpy(int descriptor, const Array &array);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_NPY_H
