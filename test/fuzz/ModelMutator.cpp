//===- ModelMutator.cpp - changes fields of ONNX models -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/fuzz/ModelMutator.h"

#include "onnx/onnx_pb.h"

#include <random>
#include <vector>

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

namespace ingot::fuzz {
namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : random(seed) {}

  void run(Message &model) {
    collect(model, 0);
    for (size_t left = 1 + pick(3); left && !places.empty(); --left) {
      auto [message, field] = places[pick(places.size())];
      mutate(*message, *field);
      // The mutation may have removed messages.
      places.clear();
      strings.clear();
      collect(model, 0);
    }
  }

private:
  size_t pick(size_t count) { return random() % count; }

  /// Collects all fields that are set, and some that are not.
  void collect(Message &message, int depth) {
    const Reflection *reflection = message.GetReflection();
    const auto *descriptor = message.GetDescriptor();
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor *field = descriptor->field(i);
      int count = field->is_repeated() ? reflection->FieldSize(message, field)
                                       : reflection->HasField(message, field);
      if (count == 0) {
        if (pick(16) == 0)
          places.push_back({&message, field});
        continue;
      }
      places.push_back({&message, field});
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING &&
          field->is_repeated())
        for (int j = 0; j < count; ++j)
          strings.push_back(reflection->GetRepeatedString(message, field, j));
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || depth > 60)
        continue;
      if (!field->is_repeated())
        collect(*reflection->MutableMessage(&message, field), depth + 1);
      for (int j = 0; field->is_repeated() && j < count; ++j)
        collect(*reflection->MutableRepeatedMessage(&message, field, j),
                depth + 1);
    }
  }

  int64_t number() {
    static const int64_t special[] = {
        0,         -1,        1,         2,          3,         4,
        7,         8,         15,        16,         17,        31,
        63,        64,        127,       128,        255,       256,
        1000,      4095,      4097,      65536,      1 << 20,   INT32_MAX,
        INT32_MIN, INT64_MAX, INT64_MIN, 1ll << 31,  1ll << 32, 1ll << 40,
        -2,        -3,        -128,      1ll << 62};
    return pick(8) ? special[pick(std::size(special))] : int64_t(random());
  }

  std::string text(const std::string &before) {
    if (!strings.empty() && pick(4))
      return strings[pick(strings.size())];
    std::string result = before;
    if (result.empty() || pick(3) == 0)
      return result + char(random());
    if (pick(2))
      result[pick(result.size())] = char(random());
    else
      result.resize(pick(result.size()));
    return result;
  }

  void mutate(Message &message, const FieldDescriptor &field) {
    const Reflection *reflection = message.GetReflection();
    if (!field.is_repeated()) {
      if (pick(6) == 0)
        reflection->ClearField(&message, &field);
      else
        set(message, field);
      return;
    }
    int count = reflection->FieldSize(message, &field);
    switch (count ? pick(5) : 4) {
    case 0:
      reflection->RemoveLast(&message, &field);
      return;
    case 1:
      reflection->SwapElements(&message, &field, int(pick(size_t(count))),
                               int(pick(size_t(count))));
      return;
    case 2:
    case 3:
      setRepeated(message, field, int(pick(size_t(count))));
      return;
    default:
      add(message, field, count);
    }
  }

  void set(Message &message, const FieldDescriptor &field) {
    const Reflection *reflection = message.GetReflection();
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->SetInt32(&message, &field, int32_t(number()));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->SetInt64(&message, &field, number());
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection->SetUInt64(&message, &field, uint64_t(number()));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->SetFloat(&message, &field, float(number()));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection->SetDouble(&message, &field, double(number()));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->SetEnumValue(&message, &field, int(number()));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->SetString(
          &message, &field, text(reflection->GetString(message, &field)));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      reflection->MutableMessage(&message, &field);
      return;
    default:
      return;
    }
  }

  void setRepeated(Message &message, const FieldDescriptor &field, int i) {
    const Reflection *reflection = message.GetReflection();
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->SetRepeatedInt32(&message, &field, i,
                                          int32_t(number()));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->SetRepeatedInt64(&message, &field, i, number());
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->SetRepeatedString(
          &message, &field, i,
          text(reflection->GetRepeatedString(message, &field, i)));
    default:
      return;
    }
  }

  void add(Message &message, const FieldDescriptor &field, int count) {
    const Reflection *reflection = message.GetReflection();
    switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection->AddInt32(&message, &field, int32_t(number()));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection->AddInt64(&message, &field, number());
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->AddString(&message, &field, text(""));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      // A copy of another message is more useful than an empty message.
      Message *added = reflection->AddMessage(&message, &field);
      if (count)
        added->CopyFrom(reflection->GetRepeatedMessage(
            message, &field, int(pick(size_t(count)))));
      return;
    }
    default:
      return;
    }
  }

  std::mt19937_64 random;
  std::vector<std::pair<Message *, const FieldDescriptor *>> places;
  std::vector<std::string> strings;
};

} // namespace

size_t mutateModel(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(data, int(size)))
    return 0;
  Mutator(seed).run(model);
  size_t needed = model.ByteSizeLong();
  if (needed == 0 || needed > maxSize ||
      !model.SerializeToArray(data, int(needed)))
    return 0;
  return needed;
}

} // namespace ingot::fuzz
