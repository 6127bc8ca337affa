//===- SetAside.cpp - large tensors outside of the model ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/SetAside.h"
#include "compiler/import/Message.h"

#include "compiler/import/Model.h"
#include "compiler/import/Types.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {

using pb::TensorProto;

size_t maxInlineBytes(int64_t dataType) {
  return dataType == TensorProto::INT32 || dataType == TensorProto::INT64
             ? kMaxInlineIntBytes
             : kMaxInlineBytes;
}

std::string makeTicket(size_t number, size_t bytes) {
  return utostr(number) + ":" + utostr(bytes);
}

bool isSetAside(const TensorProto &tensor) {
  return tensor.data_location() == TensorProto::EXTERNAL &&
         llvm::any_of(tensor.external_data(), [](const auto &entry) {
           return entry.key() == kTicketKey;
         });
}

void clearOtherData(TensorProto &tensor) {
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_int64_data();
  tensor.clear_uint64_data();
  tensor.clear_external_data();
}

void SetAside::put(TensorProto &tensor, Blob blob) {
  tensor.clear_raw_data();
  clearOtherData(tensor);
  tensor.set_data_location(TensorProto::EXTERNAL);
  pb::StringStringEntryProto *entry = tensor.add_external_data();
  entry->set_key(kTicketKey.str());
  entry->set_value(makeTicket(blobs.size(), blob.bytes.size()));
  add(std::move(blob));
}

Expected<size_t> SetAside::numberOf(const TensorProto &tensor) const {
  // The number of tickets may differ from one: if a file has a tensor's message
  // twice, protobuf merges both.
  size_t number, bytes;
  if (tensor.external_data_size() != 1 ||
      tensor.external_data(0).key() != kTicketKey)
    return makeError("has external data with the key " + quote(kTicketKey) +
                     ", which is reserved");
  auto [first, second] = StringRef(tensor.external_data(0).value()).split(':');
  if (!to_integer(first, number, 10) || !to_integer(second, bytes, 10) ||
      number >= blobs.size() || bytes != blobs[number].bytes.size())
    return makeError("has external data with the key " + quote(kTicketKey) +
                     ", which is reserved");
  return number;
}

Expected<const Blob *> SetAside::find(const TensorProto &tensor) const {
  Expected<size_t> number = numberOf(tensor);
  if (!number)
    return number.takeError();
  const Blob &blob = blobs[*number];
  int64_t wanted = getRawBytes(tensor).value_or(-1);
  if (int64_t(blob.bytes.size()) != wanted)
    return makeError("has " + Twine(blob.bytes.size()) +
                     " bytes of data, but its shape and type need " +
                     Twine(std::max<int64_t>(wanted, 0)));
  return &blob;
}

Error SetAside::checkUses(pb::ModelProto &model) const {
  std::vector<unsigned> uses(blobs.size());
  if (Error error = forEachTensor(
          model, [&](TensorProto &tensor, const pb::NodeProto *node) -> Error {
            if (!isSetAside(tensor))
              return Error::success();
            Expected<size_t> number = numberOf(tensor);
            if (!number)
              return makeError(describeTensor(tensor, node) + " " +
                               toString(number.takeError()));
            ++uses[*number];
            return Error::success();
          }))
    return error;
  if (llvm::any_of(uses, [](unsigned count) { return count != 1; }))
    return makeError("not an ONNX model, or damaged: the data of a tensor "
                     "belongs to no tensor, or to several");
  return Error::success();
}

} // namespace ingot::importer
