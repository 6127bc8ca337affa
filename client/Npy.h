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

/// A dense, row-major tensor in memory, packed as the C API takes it.
struct Array {
  ingot_dtype dtype = 0;
  std::vector<int64_t> dims;
  std::vector<unsigned char> data;
  std::string text; ///< of strings, whose offsets are the data
};

/// Computes the bytes of a tensor; for strings, the bytes of their offsets.
/// Returns false if a size is negative or the bytes are too many.
bool denseBytes(const std::vector<int64_t> &dims, ingot_dtype dtype,
                uint64_t &bytes);

/// Checks type and shape before the data is read. Returns an error message, or
/// "".
using NpyCheck = std::function<std::string(const Array &)>;

/// Reads a regular file of format version 1 to 3, in either byte order, in C or
/// Fortran order. Returns an error message, or "".
///
/// In the file, the type of strings is '<U8' or '|S8'. Memory holds UTF-8,
/// without the nulls at the end.
///
/// NumPy has no type for floats of eight bits or less, nor for integers of less
/// than a byte. For such a type, ml_dtypes writes one raw byte per element,
/// '|V1'. If `array.dtype` is set to such a type, raw bytes have this type.
/// Plain byte integers are accepted, too, if their values fit. Otherwise
/// `array.dtype` must be 0.
std::string readNpy(const std::string &path, Array &array,
                    const NpyCheck &check = {});

/// The layout of an array's data in its file.
struct NpyOrder {
  bool isSwapped = false, isFortran = false;
  uint64_t dataBytes = 0;
  /// True if each element has a byte of its own and must be packed.
  bool isLoose = false;
  /// True if the bytes are numbers of the type, not only its bits.
  bool isNumbers = false;
  /// For strings, the bytes of a character and the characters of a string; else
  /// 0.
  uint64_t charBytes = 0, chars = 0;

  /// Returns the bytes of an element in the file.
  uint64_t elementBytes(ingot_dtype dtype) const {
    return charBytes ? charBytes * chars : ingot_dtype_size(dtype);
  }
};

/// Reads the next `bytes` bytes. Returns an error message, or "".
using NpyRead = std::function<std::string(void *data, uint64_t bytes)>;

/// Reads an array of `size` bytes as readNpy above does, through `read`.
std::string readNpy(const NpyRead &read, uint64_t size, Array &array,
                    const NpyCheck &check);

/// Reads type and shape, up to the data, of a file of `size` bytes.
std::string readNpyHeader(const NpyRead &read, uint64_t size, Array &array,
                          NpyOrder &order);

/// Converts elements from the file to little-endian, row-major and packed.
/// Returns "", or which element the type cannot hold.
std::string reorder(const NpyOrder &order, Array &array);

/// Returns the bits of element i.
unsigned packedElement(const Array &array, uint64_t i);

/// Reads an array from memory as readNpy does.
std::string parseNpy(const unsigned char *bytes, uint64_t size, Array &array);

/// Converts characters from the file, little-endian and row-major, to strings.
/// Returns "", or which characters are invalid.
std::string readStrings(const NpyOrder &order, Array &array);
/// Returns the characters of an array of strings, as written to a file, and
/// sets their type. Bytes that are not UTF-8 are written unchanged, as '|S8'.
std::string writeStrings(const Array &array, std::string &descr);
/// Returns string i of an array.
std::string_view stringAt(const Array &array, uint64_t i);
void appendString(Array &array, std::string_view text);

/// Writes format version 1. Types that NumPy lacks are written as ml_dtypes
/// does. bfloat16 becomes raw '|V2'. Types of less than eight bits, and floats
/// of eight, become raw '|V1', a byte per element.
std::string writeNpy(const std::string &path, const Array &array);
std::string writeNpy(int descriptor, const Array &array);

} // namespace ingot::tools

#endif // INGOT_CLIENT_NPY_H
