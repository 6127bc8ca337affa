//===- Skeleton.cpp - an ONNX file without its weights --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/import/Skeleton.h"

#include "compiler/import/SetAside.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace ingot::importer {
namespace {

/// The messages of onnx.proto that may contain a tensor.
enum class Message {
  Model,
  Graph,
  Node,
  Attribute,
  Function,
  Sparse,
  Tensor,
  None
};

/// Returns the kind of message that field `number` of message `parent` holds.
Message childMessage(Message parent, uint32_t number) {
  switch (parent) {
  case Message::Model:
    return number == 7    ? Message::Graph
           : number == 25 ? Message::Function
                          : Message::None;
  case Message::Graph:
    return number == 1    ? Message::Node
           : number == 5  ? Message::Tensor
           : number == 15 ? Message::Sparse
                          : Message::None;
  case Message::Function:
    return number == 7    ? Message::Node
           : number == 11 ? Message::Attribute
                          : Message::None;
  case Message::Node:
    return number == 5 ? Message::Attribute : Message::None;
  case Message::Attribute:
    return number == 5 || number == 10    ? Message::Tensor
           : number == 6 || number == 11  ? Message::Graph
           : number == 22 || number == 23 ? Message::Sparse
                                          : Message::None;
  case Message::Sparse:
    return number == 1 || number == 2 ? Message::Tensor : Message::None;
  default:
    return Message::None;
  }
}

/// Fields of TensorProto and values of TensorProto.DataType.
enum TensorField : uint32_t {
  kDataType = 2,
  kFloatData = 4,
  kRawData = 9,
  kDoubleData = 10,
  kExternalData = 13,
  kDataLocation = 14,
};
enum DataType : uint64_t {
  kFloat = 1,
  kDouble = 11,
  kComplex64 = 14,
  kComplex128 = 15,
};

struct Field {
  uint32_t number;
  uint32_t wireType;
  uint64_t value = 0;     // the value of a varint
  ArrayRef<char> payload; // the payload of a length-delimited field
  ArrayRef<char> whole;   // the field with its tag
};

/// Reads the fields of one message and never reads beyond its end.
class Reader {
public:
  Reader(ArrayRef<char> bytes) : bytes(bytes) {}

  bool atEnd() const { return position == bytes.size(); }

  /// Reads the next field. Returns false if the message is malformed.
  bool next(Field &field) {
    size_t start = position;
    uint64_t tag;
    if (!varint(tag) || tag > UINT32_MAX || tag >> 3 == 0)
      return false;
    field.number = uint32_t(tag >> 3);
    field.wireType = uint32_t(tag & 7);
    field.payload = {};
    uint64_t length = 0;
    switch (field.wireType) {
    case 0:
      if (!varint(field.value))
        return false;
      break;
    case 1:
      length = 8;
      break;
    case 2:
      if (!varint(length))
        return false;
      break;
    case 5:
      length = 4;
      break;
    default: // No version of onnx.proto has groups.
      return false;
    }
    if (length > bytes.size() - position)
      return false;
    field.payload = bytes.slice(position, size_t(length));
    position += size_t(length);
    field.whole = bytes.slice(start, position - start);
    return true;
  }

private:
  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (position == bytes.size())
        return false;
      uint8_t byte = uint8_t(bytes[position++]);
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }

  ArrayRef<char> bytes;
  size_t position = 0;
};

void append(std::string &out, ArrayRef<char> bytes) {
  out.append(bytes.data(), bytes.size());
}

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

void appendDelimited(std::string &out, uint32_t number, StringRef payload) {
  appendVarint(out, number << 3 | 2);
  appendVarint(out, payload.size());
  out.append(payload.data(), payload.size());
}

class Rewriter {
public:
  Rewriter(Skeleton &skeleton, unsigned maxNesting, int64_t maxBytes)
      : skeleton(skeleton), maxNesting(maxNesting), maxBytes(maxBytes) {}

  Error run(ArrayRef<char> file) {
    return rewrite(Message::Model, file, skeleton.bytes, 0);
  }

private:
  Error rewrite(Message kind, ArrayRef<char> in, std::string &out,
                unsigned graphs) {
    if (kind == Message::Tensor)
      return rewriteTensor(in, out);
    if (kind == Message::Graph && ++graphs > maxNesting + 1)
      return makeError("graphs are nested more than " + Twine(maxNesting) +
                       " deep (--limit=nesting)");
    Reader reader(in);
    Field field;
    while (!reader.atEnd()) {
      if (!reader.next(field))
        return malformed();
      Message child = childMessage(kind, field.number);
      // A small message contains no large tensor.
      if (field.wireType != 2 || child == Message::None ||
          field.payload.size() <= kMaxInlineBytes) {
        if (Error error = checkSize(out.size() + field.whole.size()))
          return error;
        append(out, field.whole);
        continue;
      }
      std::string inner;
      if (Error error = rewrite(child, field.payload, inner, graphs))
        return error;
      if (Error error = checkSize(out.size() + inner.size()))
        return error;
      appendDelimited(out, field.number, inner);
    }
    return Error::success();
  }

  /// Copies a tensor. Leaves out its data if there is exactly one large field
  /// of data, in the layout of raw data. Then also leaves out the data location
  /// and external data, which have no effect.
  Error rewriteTensor(ArrayRef<char> in, std::string &out) {
    uint64_t type = 0, location = 0;
    std::optional<Field> data;
    bool plain = true;
    Field field;
    for (Reader reader(in); !reader.atEnd();) {
      if (!reader.next(field))
        return malformed();
      switch (field.number) {
      case kDataType:
        type = field.value;
        break;
      case kDataLocation:
        location = field.value;
        plain &= field.wireType == 0;
        break;
      case kRawData:
      case kFloatData:
      case kDoubleData:
        plain &= !data && field.wireType == 2;
        data = field;
        break;
      }
    }
    if (!plain || location != 0 || !data || !isLarge(*data, type)) {
      if (Error error = checkSize(out.size() + in.size()))
        return error;
      append(out, in);
      return Error::success();
    }
    for (Reader reader(in); !reader.atEnd() && reader.next(field);)
      if (field.number != data->number && field.number != kDataLocation &&
          field.number != kExternalData)
        append(out, field.whole);
    std::string entry;
    appendDelimited(entry, 1, kTicketKey);
    appendDelimited(entry, 2,
                    makeTicket(skeleton.blobs.size(), data->payload.size()));
    appendDelimited(out, kExternalData, entry);
    appendVarint(out, kDataLocation << 3);
    appendVarint(out, 1); // EXTERNAL
    skeleton.blobs.push_back(data->payload);
    return Error::success();
  }

  /// Returns true if the data is large and has the layout of raw data. Packed
  /// floats and doubles have this layout.
  static bool isLarge(const Field &data, uint64_t type) {
    bool isRaw =
        data.number == kRawData ||
        (data.number == kFloatData && (type == kFloat || type == kComplex64)) ||
        (data.number == kDoubleData &&
         (type == kDouble || type == kComplex128));
    return isRaw && data.payload.size() > maxInlineBytes(int64_t(type));
  }

  Error checkSize(size_t size) {
    if (int64_t(size) <= maxBytes)
      return Error::success();
    return makeError("the graph alone, without its weights, has more than " +
                     Twine(maxBytes) + " bytes (--limit=graph-bytes)");
  }

  static Error malformed() {
    return makeError("not an ONNX model, or damaged: the file is truncated or "
                     "is not a protobuf message");
  }

  Skeleton &skeleton;
  unsigned maxNesting;
  int64_t maxBytes;
};

} // namespace

Expected<Skeleton> makeSkeleton(ArrayRef<char> file, unsigned maxNesting,
                                int64_t maxBytes) {
  Skeleton skeleton;
  if (Error error = Rewriter(skeleton, maxNesting, maxBytes).run(file))
    return std::move(error);
  return skeleton;
}

} // namespace ingot::importer
