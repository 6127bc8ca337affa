//===- Npy.cpp - NumPy's .npy files -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/Npy.h"

#include "base/FileSet.h"
#include "base/InputFile.h"
#include "client/Text.h"

#include <algorithm>
#include <errno.h>
#include <filesystem>
#include <string.h>
#include <unistd.h>

using namespace ingot::tools;

namespace {
struct Descr {
  const char *text; ///< without the byte order
  ingot_dtype dtype;
};
// NumPy has no bfloat16, so it is written as a type of two raw bytes.
#define DESCR_FLOAT(BYTES) "f" #BYTES
#define DESCR_HALF(BYTES) "f" #BYTES
#define DESCR_BRAIN(BYTES) "V" #BYTES
#define DESCR_SIGNED(BYTES) "i" #BYTES
#define DESCR_UNSIGNED(BYTES) "u" #BYTES
#define DESCR_BOOL(BYTES) "b" #BYTES
#define DESCR_TINY(BYTES) "V" #BYTES
constexpr Descr descrs[] = {
#define INGOT_ELEMENT_TYPE(NAME, NUMBER, TEXT, KIND, BYTES, C_TYPE)            \
  {DESCR_##KIND(BYTES), NUMBER},
#define INGOT_PACKED_TYPE(NAME, NUMBER, TEXT, KIND, BITS) {"V1", NUMBER},
#include "ingot/abi/element_types.inc"
};

constexpr char magic[] = "\x93NUMPY";
constexpr size_t magicBytes = 6;
constexpr size_t maxDims = 64;

/// Reads the header's Python dictionary, e.g.
/// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
public:
  explicit HeaderParser(std::string text) : text(std::move(text)) {}

  std::string parse() {
    if (!take('{'))
      return "its header is not a dictionary";
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return "its header has no key where one belongs";
      bool ok = key == "descr"           ? string(descr)
                : key == "fortran_order" ? boolean(fortran)
                : key == "shape"         ? tuple(shape)
                                         : false;
      if (!ok)
        return key == "descr"
                   ? "its element type is not a plain one"
                   : "its header has a bad entry '" + formatLine(key, 40) + "'";
      seen |= key == "descr" ? 1 : key == "fortran_order" ? 2 : 4;
      if (!take(',') && peek() != '}')
        return "its header lacks a comma";
    }
    return seen == 7 ? "" : "its header lacks descr, fortran_order or shape";
  }

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

private:
  char peek() {
    while (at < text.size() && strchr(" \t\r\n", text[at]))
      ++at;
    return at < text.size() ? text[at] : 0;
  }
  bool take(char wanted) {
    if (peek() != wanted || at >= text.size())
      return false;
    ++at;
    return true;
  }
  bool string(std::string &value) {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      return false;
    size_t end = text.find(quote, at + 1);
    if (end == std::string::npos)
      return false;
    value = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool boolean(bool &value) {
    peek();
    for (bool candidate : {false, true}) {
      const char *word = candidate ? "True" : "False";
      if (text.compare(at, strlen(word), word) == 0) {
        value = candidate;
        at += strlen(word);
        return true;
      }
    }
    return false;
  }
  bool tuple(std::vector<int64_t> &values) {
    values.clear();
    if (!take('('))
      return false;
    while (!take(')')) {
      char first = peek();
      if (first < '0' || first > '9' || values.size() == maxDims)
        return false;
      int64_t value = 0;
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, text[at] - '0', &value))
          return false;
      values.push_back(value);
      if (at < text.size() && text[at] == 'L') // Written by Python 2.
        ++at;
      if (!take(',') && peek() != ')')
        return false;
    }
    return true;
  }

  std::string text;
  size_t at = 0;
  int seen = 0;
};
} // namespace

/// Multiplies the sizes and `elementBytes`. Returns false if a size is negative
/// or the product is too large.
static bool denseBytesOf(const std::vector<int64_t> &dims,
                         uint64_t elementBytes, uint64_t &bytes) {
  bytes = elementBytes;
  for (int64_t dim : dims)
    if (dim == 0) {
      bytes = 0;
      return std::all_of(dims.begin(), dims.end(),
                         [](int64_t d) { return d >= 0; });
    }
  for (int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(bytes, uint64_t(dim), &bytes) ||
        bytes > uint64_t(INT64_MAX))
      return false;
  return true;
}

bool ingot::tools::denseBytes(const std::vector<int64_t> &dims,
                              ingot_dtype dtype, uint64_t &bytes) {
  uint64_t bits = ingot_dtype_bits(dtype);
  // A string tensor has one more offset than elements.
  if (dtype == INGOT_STRING)
    return denseBytesOf(dims, bits / 8, bytes) &&
           !__builtin_add_overflow(bytes, bits / 8, &bytes);
  if (bits % 8 == 0)
    return denseBytesOf(dims, bits / 8, bytes);
  if (!denseBytesOf(dims, 1, bytes))
    return false;
  bytes = bytes / 8 * bits + (bytes % 8 * bits + 7) / 8;
  return true;
}

unsigned ingot::tools::packedElement(const Array &array, uint64_t i) {
  uint64_t bits = ingot_dtype_bits(array.dtype), at = i * bits;
  unsigned word = array.data[at / 8];
  if (at % 8 + bits > 8)
    word |= unsigned(array.data[at / 8 + 1]) << 8;
  return word >> at % 8 & ((1u << bits) - 1);
}

/// Packs elements that have one byte each.
static void packElements(Array &array) {
  uint64_t bits = ingot_dtype_bits(array.dtype), at = 0;
  std::vector<unsigned char> packed((array.data.size() * bits + 7) / 8);
  for (unsigned char element : array.data)
    for (uint64_t bit = 0; bit < bits; ++bit, ++at)
      packed[at / 8] |= (element >> bit & 1) << at % 8;
  array.data = std::move(packed);
}

/// Reorders column-major elements to row-major.
static void transpose(Array &array, size_t elementBytes) {
  // If one dimension is empty, the other sizes may be arbitrarily large.
  if (array.data.empty())
    return;
  std::vector<unsigned char> result(array.data.size());
  size_t rank = array.dims.size();
  std::vector<int64_t> index(rank, 0), stride(rank, 1);
  for (size_t d = 1; d < rank; ++d)
    stride[d] = stride[d - 1] * array.dims[d - 1];
  for (size_t to = 0; to < result.size(); to += elementBytes) {
    int64_t from = 0;
    for (size_t d = 0; d < rank; ++d)
      from += index[d] * stride[d];
    memcpy(&result[to], &array.data[size_t(from) * elementBytes], elementBytes);
    for (size_t d = rank; d-- > 0 && ++index[d] == array.dims[d];)
      index[d] = 0;
  }
  array.data = std::move(result);
}

static void swapBytes(Array &array, size_t elementBytes) {
  for (size_t at = 0; at < array.data.size(); at += elementBytes)
    std::reverse(array.data.begin() + ptrdiff_t(at),
                 array.data.begin() + ptrdiff_t(at + elementBytes));
}

namespace {
/// The layout of the file up to the data.
struct Start : NpyOrder {
  /// The number of bytes before the header, and of the header.
  uint64_t prefixBytes = 0, headerBytes = 0;
};
} // namespace

static constexpr uint64_t kMostPrefixBytes = 12;
static constexpr uint64_t kMostHeaderBytes = 1 << 20;

/// Finds the header in a file of `size` bytes from the first bytes.
static std::string parsePrefix(const unsigned char *bytes, uint64_t size,
                               Start &start) {
  if (size < magicBytes + 4 || memcmp(bytes, magic, magicBytes))
    return "it is not an .npy file";
  unsigned major = bytes[6];
  if (major < 1 || major > 3)
    return "its format version " + std::to_string(major) + " is unknown";
  uint64_t lengthBytes = major == 1 ? 2 : 4;
  start.prefixBytes = 8 + lengthBytes;
  if (size < start.prefixBytes)
    return "it is truncated";
  for (uint64_t i = 0; i < lengthBytes; ++i)
    start.headerBytes |= uint64_t(bytes[8 + i]) << (8 * i);
  if (start.headerBytes > size - start.prefixBytes)
    return "it is truncated";
  if (start.headerBytes > kMostHeaderBytes)
    return "its header is impossibly long";
  return "";
}

/// Returns the element type for the type `text` of a file. `wanted` is the type
/// that the caller expects.
static ingot_dtype dtypeOf(const std::string &text, ingot_dtype wanted) {
  constexpr Descr nameless[] = {
#define INGOT_TINY_FLOAT(NAME, FORMAT, EXPONENT, FRACTION, BIAS, ENDS)         \
  {"V1 u1", INGOT_##NAME},
#include "ingot/abi/element_types.inc"
      {"V1 u1", INGOT_UINT4},
      {"V1 u1", INGOT_UINT2},
      {"V1 i1", INGOT_INT4},
      {"V1 i1", INGOT_INT2},
      // The name in ml_dtypes.
      {"f1", INGOT_FLOAT8E5M2}};
  if (text.size() != 3 || !strchr("<>|=", text[0]))
    return 0;
  const std::string type = text.substr(1);
  for (const Descr &descr : nameless)
    if (descr.dtype == wanted && strstr(descr.text, type.c_str()))
      return wanted;
  for (const Descr &descr : descrs)
    if (type == descr.text && type != "V1")
      return descr.dtype;
  return 0;
}

/// Reads the length of strings from a type such as '<U12'.
static bool parseStrings(const std::string &text, Start &start) {
  if (text.size() < 3 || text.size() > 10 || !strchr("<>|=", text[0]) ||
      (text[1] != 'U' && text[1] != 'S') ||
      text.find_first_not_of("0123456789", 2) != std::string::npos)
    return false;
  start.chars = std::stoull(text.substr(2));
  start.charBytes = text[1] == 'U' ? 4 : 1;
  return start.chars != 0;
}

/// Sets type and shape from the header. Checks that a file of `size` has enough
/// data.
static std::string parseHeader(std::string text, uint64_t size, Start &start,
                               Array &array) {
  HeaderParser header(std::move(text));
  std::string problem = header.parse();
  if (!problem.empty())
    return problem;
  array.dtype = parseStrings(header.descr, start)
                    ? ingot_dtype(INGOT_STRING)
                    : dtypeOf(header.descr, array.dtype);
  if (!array.dtype)
    return "its element type '" + formatLine(header.descr, 40) +
           "' is not supported";
  uint64_t elementBytes = start.elementBytes(array.dtype);
  if (!denseBytesOf(header.shape, elementBytes, start.dataBytes))
    return "its shape is impossibly large";
  uint64_t rest = size - start.prefixBytes - start.headerBytes;
  if (start.dataBytes != rest)
    return "its shape needs " + std::to_string(start.dataBytes) +
           " bytes of data, but it has " + std::to_string(rest);
  array.dims = header.shape;
  start.isSwapped =
      header.descr[0] == '>' && elementBytes > 1 && start.charBytes != 1;
  start.isFortran = header.fortran && header.shape.size() > 1;
  start.isLoose = ingot_dtype_bits(array.dtype) % 8 != 0;
  start.isNumbers = start.isLoose && header.descr[1] != 'V';
  return "";
}

std::string ingot::tools::parseNpy(const unsigned char *bytes, uint64_t size,
                                   Array &array) {
  Start start;
  std::string problem = parsePrefix(bytes, size, start);
  if (!problem.empty())
    return problem;
  const unsigned char *header = bytes + start.prefixBytes;
  problem = parseHeader(
      std::string(reinterpret_cast<const char *>(header), start.headerBytes),
      size, start, array);
  if (!problem.empty())
    return problem;
  array.data.assign(header + start.headerBytes, bytes + size);
  return reorder(start, array);
}

std::string ingot::tools::readNpyHeader(const NpyRead &read, uint64_t size,
                                        Array &array, NpyOrder &order) {
  // Read in steps. Each step reads only bytes that the file must have according
  // to the earlier steps.
  unsigned char prefix[kMostPrefixBytes] = {};
  constexpr uint64_t versionOne = 10;
  uint64_t first = std::min(size, versionOne);
  std::string problem = read(prefix, first);
  if (!problem.empty())
    return problem;
  bool isLong =
      first == versionOne && prefix[6] > 1 && size >= kMostPrefixBytes;
  if (isLong)
    problem = read(prefix + versionOne, kMostPrefixBytes - versionOne);
  Start start;
  if (problem.empty())
    problem = parsePrefix(prefix, size, start);
  std::string header;
  if (problem.empty()) {
    header.resize(start.headerBytes);
    problem = read(header.data(), header.size());
  }
  if (problem.empty())
    problem = parseHeader(std::move(header), size, start, array);
  order = start;
  return problem;
}

/// Returns the first number that does not fit into the integer type, or
/// nothing.
static std::string findMisfit(const Array &array) {
  int bits = int(ingot_dtype_bits(array.dtype));
  bool isSigned = array.dtype == INGOT_INT4 || array.dtype == INGOT_INT2;
  for (size_t i = 0; i < array.data.size(); ++i) {
    int number =
        isSigned ? static_cast<signed char>(array.data[i]) : array.data[i];
    int least = isSigned ? -(1 << (bits - 1)) : 0;
    if (number < least || number >= least + (1 << bits))
      return "its element " + std::to_string(i) + " is " +
             std::to_string(number) + ", which no " +
             ingot_dtype_name(array.dtype) + " can be";
  }
  return "";
}

std::string ingot::tools::reorder(const NpyOrder &order, Array &array) {
  uint64_t elementBytes = order.elementBytes(array.dtype);
  if (order.isSwapped)
    swapBytes(array, order.charBytes ? order.charBytes : elementBytes);
  if (order.isFortran)
    transpose(array, elementBytes);
  if (order.charBytes)
    return readStrings(order, array);
  if (!order.isLoose)
    return "";
  std::string problem = order.isNumbers ? findMisfit(array) : "";
  packElements(array);
  return problem;
}

std::string ingot::tools::readNpy(const NpyRead &read, uint64_t size,
                                  Array &array, const NpyCheck &check) {
  NpyOrder order;
  std::string problem = readNpyHeader(read, size, array, order);
  if (problem.empty() && check)
    problem = check(array);
  if (!problem.empty())
    return problem;
  array.data.resize(order.dataBytes);
  problem = read(array.data.data(), order.dataBytes);
  return problem.empty() ? reorder(order, array) : problem;
}

std::string ingot::tools::readNpy(const std::string &path, Array &array,
                                  const NpyCheck &check) {
  InputFile file;
  std::string problem = file.open(path);
  if (!problem.empty())
    return problem;
  return readNpy(
      [&](void *data, uint64_t bytes) { return file.read(data, bytes); },
      file.size(), array, check);
}

static bool writeAll(int descriptor, const void *data, size_t bytes) {
  auto *at = static_cast<const char *>(data);
  while (bytes) {
    ssize_t put = write(descriptor, at, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    at += put;
    bytes -= size_t(put);
  }
  return true;
}

std::string ingot::tools::writeNpy(int descriptor, const Array &array) {
  std::string descr, strings;
  for (const Descr &known : descrs)
    if (known.dtype == array.dtype)
      descr = (ingot_dtype_size(array.dtype) == 1 ? "|" : "<") +
              std::string(known.text);
  if (array.dtype == INGOT_STRING)
    strings = writeStrings(array, descr);
  std::string header = "{'descr': '" + descr;
  header += "', 'fortran_order': False, 'shape': (";
  for (size_t d = 0; d < array.dims.size(); ++d)
    header += (d ? ", " : "") + std::to_string(array.dims[d]);
  header += array.dims.size() == 1 ? ",), }" : "), }";
  // The header ends in a newline, and its length makes the data begin at a
  // multiple of 64.
  header.resize((header.size() + 10 + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';

  unsigned char prefix[10] = {0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              1,
                              0,
                              static_cast<unsigned char>(header.size() & 255),
                              static_cast<unsigned char>(header.size() >> 8)};
  memcpy(prefix, magic, magicBytes);
  std::vector<unsigned char> loose;
  const std::vector<unsigned char> *data = &array.data;
  if (uint64_t count;
      ingot_dtype_bits(array.dtype) % 8 && denseBytesOf(array.dims, 1, count)) {
    for (uint64_t i = 0; i < count; ++i)
      loose.push_back(static_cast<unsigned char>(packedElement(array, i)));
    data = &loose;
  }
  bool isOfStrings = array.dtype == INGOT_STRING;
  bool written =
      writeAll(descriptor, prefix, sizeof(prefix)) &&
      writeAll(descriptor, header.data(), header.size()) &&
      (isOfStrings ? writeAll(descriptor, strings.data(), strings.size())
                   : writeAll(descriptor, data->data(), data->size()));
  return written ? "" : strerror(errno);
}

std::string ingot::tools::writeNpy(const std::string &path,
                                   const Array &array) {
  std::string folder = std::filesystem::path(path).parent_path();
  FileSet files;
  int descriptor;
  std::string problem = files.open(folder);
  if (problem.empty())
    problem = files.create(/*isExecutable=*/false, descriptor);
  if (problem.empty())
    problem = writeNpy(descriptor, array);
  if (!problem.empty())
    return problem;
  return files.publish({{descriptor, std::filesystem::path(path).filename()}});
}
