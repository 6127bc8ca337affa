//===- TensorData.cpp - tensors to elements attributes --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/TensorData.h"
#include "compiler/import/Message.h"

#include "compiler/import/Types.h"
#include "dialects/nn/Constants.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot::importer {

using llvm::Expected;
using pb::TensorProto;

/// Returns the low `width` bytes of each value, one after the other.
template <typename Values>
static std::string packInts(const Values &values, int64_t width) {
  std::string out;
  out.reserve(size_t(values.size()) * size_t(width));
  for (auto value : values)
    out.append(reinterpret_cast<const char *>(&value), size_t(width));
  return out;
}

template <typename Values>
static std::string copyBytes(const Values &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     size_t(values.size()) * sizeof(*values.data()));
}

/// Returns true if the data is in raw_data, not in a field for one type.
static bool isRaw(const TensorProto &tensor) {
  return !tensor.raw_data().empty();
}

/// Converts the values in the typed fields to the form of raw_data.
static Expected<std::string> packTyped(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return copyBytes(tensor.float_data());
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return copyBytes(tensor.double_data());
  case TensorProto::INT64:
    return copyBytes(tensor.int64_data());
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return packInts(tensor.uint64_data(),
                    elementBitsOf(tensor.data_type()) / 8);
  case TensorProto::BOOL: {
    std::string bools;
    bools.reserve(size_t(tensor.int32_data_size()));
    for (int32_t value : tensor.int32_data())
      bools.push_back(char(value != 0));
    return bools;
  }
  case TensorProto::FLOAT6E2M3:
  case TensorProto::FLOAT6E3M2: {
    // Elements of 6 bits are packed in raw data, but not in typed data.
    std::string packed((size_t(tensor.int32_data_size()) * 6 + 7) / 8, '\0');
    for (auto [i, value] : llvm::enumerate(tensor.int32_data()))
      for (size_t bit = 0; bit < 6; ++bit)
        if (value >> bit & 1)
          packed[(i * 6 + bit) / 8] |= char(1 << (i * 6 + bit) % 8);
    return packed;
  }
  default: {
    // For types below one byte, each entry of typed data holds one byte with
    // packed elements.
    int64_t bits = elementBitsOf(tensor.data_type());
    if (!bits)
      return makeError("tensor " + quote(tensor.name()) + " of type " +
                       getElementName(tensor.data_type()) +
                       " is not supported");
    return packInts(tensor.int32_data(), std::max<int64_t>(bits / 8, 1));
  }
  }
}

Expected<TensorView> readTensor(const Model &model, const TensorProto &tensor) {
  if (isSetAside(tensor)) {
    Expected<const Blob *> blob = model.setAside.find(tensor);
    if (!blob)
      return makeError("tensor " + quote(tensor.name()) + " " +
                       toString(blob.takeError()));
    return TensorView((*blob)->bytes);
  }
  if (isRaw(tensor))
    return TensorView(
        ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size()));
  Expected<std::string> packed = packTyped(tensor);
  if (!packed)
    return packed.takeError();
  return TensorView(std::move(*packed));
}

llvm::Error makeUniform(Model &model, TensorProto &tensor) {
  if (isSetAside(tensor) || tensor.data_type() == TensorProto::STRING)
    return llvm::Error::success();
  std::string data;
  if (isRaw(tensor)) {
    data = std::move(*tensor.mutable_raw_data());
  } else {
    Expected<std::string> packed = packTyped(tensor);
    if (!packed)
      return packed.takeError();
    data = std::move(*packed);
  }
  if (data.size() > maxInlineBytes(tensor.data_type())) {
    model.setAside.put(tensor, Blob(std::move(data)));
    return llvm::Error::success();
  }
  clearOtherData(tensor);
  tensor.clear_data_location();
  if (data.empty())
    tensor.clear_raw_data();
  else
    tensor.set_raw_data(std::move(data));
  return llvm::Error::success();
}

/// Unpacks elements of `bits` bits, low bits first, to one byte per element.
static std::vector<char> unpack(ArrayRef<char> packed, int64_t count,
                                int64_t bits) {
  std::vector<char> out;
  out.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    size_t at = size_t(i * bits);
    unsigned word = uint8_t(packed[at / 8]);
    if (at % 8 + size_t(bits) > 8)
      word |= unsigned(uint8_t(packed[at / 8 + 1])) << 8;
    out.push_back(char(word >> at % 8 & ((1u << bits) - 1)));
  }
  return out;
}

/// Returns a form of `name` that is a valid resource key in MLIR text.
static std::string makeKey(StringRef name) {
  std::string key;
  for (char c : name.take_front(200))
    key.push_back(llvm::isAlnum(c) || c == '_' ? c : '_');
  if (key.empty() || llvm::isDigit(key.front()))
    key.insert(0, "_");
  return key;
}

Expected<ElementsAttr> makeElements(const Model &model,
                                    const TensorProto &tensor, StringRef name,
                                    MLIRContext *context) {
  auto fail = [&](const Twine &what) {
    return makeError("tensor " + quote(name) + " " + what);
  };
  Type element = elementTypeOf(tensor.data_type(), context);
  if (!element)
    return fail("of type " + getElementName(tensor.data_type()) +
                " is not supported");
  std::optional<int64_t> count = getNumElements(tensor.dims());
  std::optional<int64_t> expected = getRawBytes(tensor);
  if (!count || !expected)
    return fail("has a shape too large for any memory");
  Expected<TensorView> data = readTensor(model, tensor);
  if (!data)
    return data.takeError();
  ArrayRef<char> bytes = data->get();
  if (int64_t(bytes.size()) != *expected)
    return fail("has " + Twine(bytes.size()) + " bytes of data, but needs " +
                Twine(*expected));
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  auto type = RankedTensorType::get(shape, element);

  int64_t bits = elementBitsOf(tensor.data_type());
  if (bits < 8)
    return nn::makeConstantAttr(type, unpack(bytes, *count, bits));
  if (element.isInteger(1)) {
    std::vector<char> bools(bytes.begin(), bytes.end());
    for (char &value : bools)
      value = value != 0;
    return nn::makeConstantAttr(type, std::move(bools));
  }
  if (*expected <= nn::kMaxUniquedBytes)
    return nn::makeConstantAttr(type,
                                std::vector<char>(bytes.begin(), bytes.end()));

  // protobuf does not align data, so many tensors must be copied from the file.
  // After the copy, the mapped pages are no longer needed.
  const Blob *blob = isSetAside(tensor)
                         ? llvm::cantFail(model.setAside.find(tensor))
                         : nullptr;
  size_t align = size_t(std::min<int64_t>(bits / 8, 8));
  if (blob && uintptr_t(bytes.data()) % align == 0) {
    auto keep = [owner = blob->owner](void *, size_t, size_t) {};
    return DenseResourceElementsAttr::get(
        type, makeKey(name),
        UnmanagedAsmResourceBlob::allocateWithAlign(bytes, align,
                                                    std::move(keep)));
  }
  auto copy = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64);
  if (blob && blob->isMapped)
    dropResident(bytes);
  return DenseResourceElementsAttr::get(type, makeKey(name), std::move(copy));
}

} // namespace ingot::importer
