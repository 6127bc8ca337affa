//===- TensorData.cpp - tensors to elements attributes -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/TensorData.h"

#include "compiler/import/Types.h"
#include "dialects/nn/Constants.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot::importer {

using llvm::Expected;
using pb::TensorProto;

/// Appends the low `width` bytes of each value.
template <typename Values>
static std::string packInts(const Values &values, int64_t width) {
  std::string out;
  out.reserve(size_t(values.size()) * size_t(width));
  for (auto value : values)
    out.append(reinterpret_cast<const char *>(&value), size_t(width));
  return out;
}

template <typename Values> static std::string copyBytes(const Values &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     size_t(values.size()) * sizeof(*values.data()));
}

Expected<TensorBytes> readTensor(const Model &model,
                                 const TensorProto &tensor) {
  if (std::optional<size_t> number = getBlobNumber(tensor)) {
    if (*number >= model.blobs.size())
      return makeError("tensor '" + tensor.name() + "' has no data");
    return TensorBytes(model.blobs[*number]);
  }
  if (!tensor.raw_data().empty())
    return TensorBytes(
        Blob{ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size()),
             nullptr});
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return TensorBytes(copyBytes(tensor.float_data()));
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return TensorBytes(copyBytes(tensor.double_data()));
  case TensorProto::INT64:
    return TensorBytes(copyBytes(tensor.int64_data()));
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return TensorBytes(packInts(tensor.uint64_data(),
                                getElementBits(tensor.data_type()) / 8));
  case TensorProto::FLOAT6E2M3:
  case TensorProto::FLOAT6E3M2: {
    // Raw data packs these; typed data does not.
    std::string packed((size_t(tensor.int32_data_size()) * 6 + 7) / 8, '\0');
    for (auto [i, value] : llvm::enumerate(tensor.int32_data()))
      for (size_t bit = 0; bit < 6; ++bit)
        if (value >> bit & 1)
          packed[(i * 6 + bit) / 8] |= char(1 << (i * 6 + bit) % 8);
    return TensorBytes(std::move(packed));
  }
  default: {
    // One number a byte for the types of less than a byte, packed in it.
    int64_t bits = getElementBits(tensor.data_type());
    if (!bits)
      return makeError("tensor '" + tensor.name() + "' of type " +
                       getElementName(tensor.data_type()) +
                       " is not supported");
    return TensorBytes(
        packInts(tensor.int32_data(), std::max<int64_t>(bits / 8, 1)));
  }
  }
}

/// One byte an element from `bits` bits an element, low bits first.
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

/// What a resource may be called in MLIR text.
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
    return makeError("tensor '" + name + "' " + what);
  };
  Type element = getElementType(tensor.data_type(), context);
  if (!element)
    return fail("of type " + getElementName(tensor.data_type()) +
                " is not supported");
  std::optional<int64_t> count = getNumElements(tensor.dims());
  std::optional<int64_t> expected = getRawBytes(tensor);
  if (!count || !expected)
    return fail("has a shape too large for any memory");
  Expected<TensorBytes> data = readTensor(model, tensor);
  if (!data)
    return data.takeError();
  ArrayRef<char> bytes = data->get();
  if (int64_t(bytes.size()) != *expected)
    return fail("has " + Twine(bytes.size()) + " bytes of data, but needs " +
                Twine(*expected));
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  auto type = RankedTensorType::get(shape, element);

  int64_t bits = getElementBits(tensor.data_type());
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

  // protobuf aligns nothing, so many tensors of a file must be copied; their
  // pages of the file are not needed any more then.
  size_t align = size_t(std::min<int64_t>(bits / 8, 8));
  const Blob &blob = data->getBlob();
  if (getBlobNumber(tensor) && uintptr_t(bytes.data()) % align == 0) {
    auto keep = [owner = blob.owner](void *, size_t, size_t) {};
    return DenseResourceElementsAttr::get(
        type, makeKey(name),
        UnmanagedAsmResourceBlob::allocateWithAlign(bytes, align,
                                                    std::move(keep)));
  }
  auto copy = HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes, 64);
  if (blob.isMapped)
    dropResident(bytes);
  return DenseResourceElementsAttr::get(type, makeKey(name), std::move(copy));
}

} // namespace ingot::importer
