//===- Constants.cpp - reading and making constant tensors ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <limits>
#include <mutex>

using namespace mlir;

namespace ingot::nn {

int64_t elementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  if (type.isIndex())
    return 8;
  return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
}

ElementsAttr getConstant(Value value) {
  ElementsAttr attr;
  if (value && matchPattern(value, m_Constant(&attr)))
    return attr;
  return {};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

std::optional<ArrayRef<char>> getRawBytes(ElementsAttr attr,
                                          std::vector<char> &storage) {
  int64_t width = elementBytes(attr.getElementType());
  int64_t count = attr.getNumElements();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || int64_t(blob->getData().size()) != width * count)
      return std::nullopt;
    return blob->getData();
  }
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  if (!dense || isa<DenseStringElementsAttr>(attr))
    return std::nullopt;
  ArrayRef<char> raw = dense.getRawData();
  bool bits = attr.getElementType().isInteger(1);
  if (!bits && !dense.isSplat())
    return raw;
  storage.resize(width * count);
  if (bits) {
    int64_t i = 0;
    for (bool bit : dense.getValues<bool>())
      storage[i++] = bit;
  } else {
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(raw.begin(), width, storage.begin() + i * width);
  }
  return ArrayRef<char>(storage);
}

/// Calls `read` with the bytes of each element.
template <typename T, typename Read>
static bool readElements(ElementsAttr attr, T &out, Read read) {
  std::vector<char> storage;
  std::optional<ArrayRef<char>> bytes = getRawBytes(attr, storage);
  if (!bytes)
    return false;
  int64_t width = elementBytes(attr.getElementType());
  out.resize(attr.getNumElements());
  for (int64_t i = 0, e = attr.getNumElements(); i < e; ++i)
    out[i] = read(bytes->data() + i * width);
  return true;
}

/// Reads an integer, index or i1.
static int64_t readInt(const char *bytes, unsigned width, bool isUnsigned) {
  using namespace llvm::support;
  switch (width) {
  case 1:
    return *bytes & 1;
  // Each element has its own byte. The upper bits of the byte may have any
  // value.
  case 2:
  case 4: {
    int64_t sign = int64_t(1) << (width - 1), low = *bytes & (2 * sign - 1);
    return isUnsigned ? low : (low ^ sign) - sign;
  }
  case 8:
    return isUnsigned ? int64_t(uint8_t(*bytes)) : int64_t(int8_t(*bytes));
  case 16: {
    uint16_t v = endian::read16le(bytes);
    return isUnsigned ? int64_t(v) : int64_t(int16_t(v));
  }
  case 32: {
    uint32_t v = endian::read32le(bytes);
    return isUnsigned ? int64_t(v) : int64_t(int32_t(v));
  }
  default:
    return int64_t(endian::read64le(bytes));
  }
}

static bool isReadableInt(Type type) {
  constexpr unsigned kWidths[] = {1, 2, 4, 8, 16, 32, 64};
  return type.isIndex() ||
         (type.isInteger() &&
          llvm::is_contained(kWidths, type.getIntOrFloatBitWidth()));
}

std::optional<SmallVector<int64_t>> readInts(ElementsAttr attr) {
  Type type = attr.getElementType();
  if (!isReadableInt(type))
    return std::nullopt;
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  SmallVector<int64_t> result;
  if (!readElements(attr, result, [&](const char *bytes) {
        return readInt(bytes, width, type.isUnsignedInteger());
      }))
    return std::nullopt;
  return result;
}

/// Returns the elements. `read` converts the bytes of an element.
template <typename Read>
static std::optional<std::vector<double>> readEach(ElementsAttr attr,
                                                   Read read) {
  std::vector<double> result;
  if (!readElements(attr, result, read))
    return std::nullopt;
  return result;
}

// Selects the type once instead of for each element. Nearly all constants are
// f32 or bytes, and have millions of elements.
std::optional<std::vector<double>> readDoubles(ElementsAttr attr) {
  Type type = attr.getElementType();
  if (isReadableInt(type)) {
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    bool isUnsigned = type.isUnsignedInteger();
    if (width == 8 && isUnsigned)
      return readEach(
          attr, [](const char *bytes) { return double(uint8_t(*bytes)); });
    if (width == 8)
      return readEach(
          attr, [](const char *bytes) { return double(int8_t(*bytes)); });
    return readEach(attr, [&](const char *bytes) {
      int64_t v = readInt(bytes, width, isUnsigned);
      return isUnsigned ? double(uint64_t(v)) : double(v);
    });
  }
  if (type.isF32())
    return readEach(attr, [](const char *bytes) {
      return double(
          llvm::bit_cast<float>(llvm::support::endian::read32le(bytes)));
    });
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return std::nullopt;
  unsigned width = floatType.getWidth();
  return readEach(attr, [&](const char *bytes) {
    if (type.isF64())
      return llvm::bit_cast<double>(llvm::support::endian::read64le(bytes));
    uint64_t bits = uint8_t(bytes[0]);
    if (width > 8)
      bits = llvm::support::endian::read16le(bytes);
    APFloat value(floatType.getFloatSemantics(),
                  APInt(width, bits, false, true));
    // In a format without a fraction, a NaN would become an infinity.
    if (value.isNaN())
      return std::copysign(std::numeric_limits<double>::quiet_NaN(),
                           value.isNegative() ? -1.0 : 1.0);
    bool lossy;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return value.convertToDouble();
  });
}

std::optional<std::vector<double>> getConstantDoubles(Value value) {
  if (ElementsAttr attr = getConstant(value))
    return readDoubles(attr);
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> getConstantInts(Value value) {
  if (ElementsAttr attr = getConstant(value))
    return readInts(attr);
  return std::nullopt;
}

std::optional<double> getSplat(Value value) {
  ElementsAttr attr = getConstant(value);
  if (!attr || attr.getNumElements() == 0)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    if (!dense.isSplat())
      return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    attr = dense.resizeSplat(RankedTensorType::get({}, attr.getElementType()));
  std::optional<std::vector<double>> values = readDoubles(attr);
  if (!values || !llvm::all_equal(*values))
    return std::nullopt;
  return values->front();
}

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

/// Returns true if all groups of `width` bytes are equal.
static bool isUniform(ArrayRef<char> bytes, int64_t width) {
  return bytes.size() > size_t(width) &&
         bytes.drop_front(width) == bytes.drop_back(width);
}

/// Returns a blob with `bytes`. Copies them only if they are not aligned.
static AsmResourceBlob blobOf(std::vector<char> &bytes) {
  constexpr size_t kAlign = 64;
  if (!llvm::isAddrAligned(llvm::Align(kAlign), bytes.data()) ||
      bytes.capacity() > bytes.size() + bytes.size() / 4)
    return HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, kAlign);
  auto owner = std::make_shared<std::vector<char>>(std::move(bytes));
  const ArrayRef<char> data(*owner);
  return AsmResourceBlob(
      data, kAlign, [owner = std::move(owner)](void *, size_t, size_t) {},
      /*dataIsMutable=*/false);
}

/// Returns the resource with `bytes`. Its name depends only on the bytes.
/// Passes on several functions make constants at the same time, so a number in
/// the name would depend on the order of the threads.
static DenseResourceElementsHandle resourceOf(MLIRContext *context,
                                              std::vector<char> bytes) {
  auto &interface = DenseResourceElementsHandle::getManagerInterface(context);
  DialectResourceBlobManager &manager = interface.getBlobManager();
  std::string name =
      "constant_" +
      llvm::utohexstr(
          llvm::xxh3_64bits(llvm::ArrayRef(
              reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())),
          /*LowerCase=*/true);
  // A freed entry gets its bytes once, before another thread looks at it.
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  DialectResourceBlobManager::BlobEntry *entry = manager.lookup(name);
  const AsmResourceBlob *blob = entry ? entry->getBlob() : nullptr;
  if (blob && blob->getData().empty())
    // `dropUnusedConstants` has freed the bytes.
    manager.update(name, blobOf(bytes));
  else if (!blob || blob->getData() != ArrayRef<char>(bytes))
    entry = &manager.insert(name, blobOf(bytes));
  return DenseResourceElementsHandle(
      entry, cast<BuiltinDialect>(interface.getDialect()));
}

ElementsAttr makeConstantAttr(RankedTensorType type, std::vector<char> bytes) {
  // A splat stores only one element.
  int64_t width = elementBytes(type.getElementType());
  if (type.getElementType().isIntOrFloat() && isUniform(bytes, width))
    bytes.resize(width);
  if (int64_t(bytes.size()) <= kMaxUniquedBytes) {
    if (type.getElementType().isInteger(1)) {
      SmallVector<bool> bits(bytes.begin(), bytes.end());
      return DenseElementsAttr::get(type, bits);
    }
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  return DenseResourceElementsAttr::get(
      type, resourceOf(type.getContext(), std::move(bytes)));
}

/// Appends `value`, rounded to `type`, little-endian.
static void appendElement(std::vector<char> &out, Type type, double value) {
  uint64_t bits;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat number(value);
    bool lossy;
    number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &lossy);
    bits = number.bitcastToAPInt().getZExtValue();
  } else if (type.isInteger(1)) {
    bits = value != 0;
  } else if (type.isUnsignedInteger()) {
    bits = uint64_t(value);
  } else {
    bits = uint64_t(int64_t(value));
  }
  if (type.isIntOrFloat())
    bits &= llvm::maskTrailingOnes<uint64_t>(type.getIntOrFloatBitWidth());
  for (int64_t i = 0, e = elementBytes(type); i < e; ++i)
    out.push_back(char(bits >> (8 * i)));
}

ElementsAttr makeConstantAttr(RankedTensorType type, ArrayRef<double> values) {
  std::vector<char> bytes;
  if (type.getElementType().isF32()) {
    // Fast path for f32, the type of nearly all weights, which may have
    // millions of elements.
    bytes.resize(values.size() * sizeof(float));
    for (auto [i, value] : llvm::enumerate(values))
      llvm::support::endian::write32le(
          &bytes[i * sizeof(float)], llvm::bit_cast<uint32_t>(float(value)));
    return makeConstantAttr(type, std::move(bytes));
  }
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (integer && integer.getWidth() == 8) {
    // Fast path for quantized weights.
    bytes.resize(values.size());
    for (auto [byte, value] : llvm::zip_equal(bytes, values))
      byte = char(int64_t(value));
    return makeConstantAttr(type, std::move(bytes));
  }
  bytes.reserve(values.size() * elementBytes(type.getElementType()));
  for (double value : values)
    appendElement(bytes, type.getElementType(), value);
  return makeConstantAttr(type, std::move(bytes));
}

Value makeConstant(OpBuilder &builder, Location loc, RankedTensorType type,
                   ArrayRef<double> values) {
  return arith::ConstantOp::create(builder, loc, type,
                                   makeConstantAttr(type, values));
}

Value makeScalar(OpBuilder &builder, Location loc, Type elementType,
                 double value) {
  return makeConstant(builder, loc, RankedTensorType::get({}, elementType),
                      value);
}

} // namespace ingot::nn
