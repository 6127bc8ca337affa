//===- Npy.h - NumPy's .npy files ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_NPY_H
#define INGOT_CLIENT_NPY_H

#include "ingot/ingot.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::tools {

/// A dense, row-major tensor in memory, in the layout of the C API.
struct Array {
  ingot_dtype dtype = 0;
  std::vector<int64_t> dims;
  std::vector<unsigned char> data;
  std::string text; ///< of strings, whose offsets are the data
};

/// Computes the bytes of a tensor; for strings, the bytes of their offsets.
/// Returns false if a size is negative or the number of bytes is too large.
bool denseBytes(const std::vector<int64_t> &dims, ingot_dtype dtype,
                uint64_t &bytes);

/// Checks type and shape. Called before the data is read. Returns an error
/// message, or "".
using NpyCheck = std::function<std::string(const Array &)>;

/// Reads a regular file of format version 1 to 3. It may have either byte
/// order, and C or Fortran order. Returns an error message, or "".
///
/// In the file, strings have the type '<U8' or '|S8'. In memory they are UTF-8,
/// without nulls at the end.
///
/// NumPy has no types for floats of eight bits or less, and none for integers
/// of less than a byte. For such a type, ml_dtypes writes one raw byte per
/// element, as '|V1'. To read such a file, the caller sets `array.dtype` to the
/// type. The file may then also contain plain byte integers, if their values
/// fit. Otherwise `array.dtype` must be 0.
std::string readNpy(const std::string &path, Array &array,
                    const NpyCheck &check = {});

/// The layout of an array's data in its file.
struct NpyOrder {
  bool isSwapped = false, isFortran = false;
  uint64_t dataBytes = 0;
  /// True if each element has its own byte and must be packed.
  bool isLoose = false;
  /// True if the bytes are numbers to convert, not bits of the type.
  bool isNumbers = false;
  /// The bytes of a character and the characters of a string, for strings; else
  /// 0.
  uint64_t charBytes = 0, chars = 0;

  /// Returns the bytes of an element in the file.
  uint64_t elementBytes(ingot_dtype dtype) const {
    return charBytes ? charBytes * chars : ingot_dtype_size(dtype);
  }
};

/// Reads the next `bytes` bytes. Returns an error message, or "".
using NpyRead = std::function<std::string(void *data, uint64_t bytes)>;

/// Reads an array of `size` bytes through `read`, like readNpy above.
std::string readNpy(const NpyRead &read, uint64_t size, Array &array,
                    const NpyCheck &check);

/// Reads type and shape of a file of `size` bytes, up to its data.
std::string readNpyHeader(const NpyRead &read, uint64_t size, Array &array,
                          NpyOrder &order);

/// Converts elements from the file to little-endian, row-major and packed.
/// Returns "", or a message about an element that does not fit into the type.
std::string reorder(const NpyOrder &order, Array &array);

/// Returns the bits of element i.
unsigned packedElement(const Array &array, uint64_t i);

/// Reads an array from memory, like readNpy.
std::string parseNpy(const unsigned char *bytes, uint64_t size, Array &array);

/// Converts characters from the file, little-endian and row-major, to strings.
/// Returns "", or a message about invalid characters.
std::string readStrings(const NpyOrder &order, Array &array);
/// Returns the characters of an array of strings, in the form for a file, and
/// sets their type in `descr`. Bytes that are not UTF-8 are written unchanged,
/// as '|S8'.
std::string writeStrings(const Array &array, std::string &descr);
/// Returns string i of an array.
std::string_view stringAt(const Array &array, uint64_t i);
void appendString(Array &array, std::string_view text);

/// Writes format version 1. Types that NumPy does not have are written in the
/// form of ml_dtypes. bfloat16 becomes raw '|V2'. Types of less than eight bits
/// and floats of eight bits become raw '|V1', with one byte per element.
std::string writeNpy(const std::string &path, const Array &array);
std::string writeNpy(int descriptor, const Array &array);

} // namespace ingot::tools

#endif // INGOT_CLIENT_NPY_H
