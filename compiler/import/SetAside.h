//===- SetAside.h - data of tensors outside of the model --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX's library copies a model several times, so the data of large tensors is
// kept outside of it. Such a tensor has data_location EXTERNAL and a ticket:
// the number of its data and their size. A ticket is believed only if there is
// data of that number and size, and if the tensor's type and shape need just
// that.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_SETASIDE_H
#define INGOT_COMPILER_IMPORT_SETASIDE_H

#include "compiler/import/MappedFile.h"

// protobuf's headers warn.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include "onnx/onnx_pb.h"
#pragma clang diagnostic pop

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace ingot::importer {

/// ONNX's own classes; ingot::onnx is the dialect.
namespace pb = ::onnx;

/// Tensors with more bytes than this are set aside; what is smaller stays
/// visible to shape inference and version conversion.
constexpr size_t kMaxInlineBytes = 1024;
/// The same for 32 and 64 bit integers, which may be shapes.
constexpr size_t kMaxInlineIntBytes = 32 * 1024;

/// Which of the two bounds a TensorProto.DataType has.
size_t maxInlineBytes(int64_t dataType);

/// Key of the `external_data` entry that is a ticket; no model may use it.
constexpr llvm::StringLiteral kTicketKey = "ingot.blob";

std::string makeTicket(size_t number, size_t bytes);

/// Empties every field that may hold a tensor's data but `raw_data`.
void clearOtherData(pb::TensorProto &tensor);

/// Whether `tensor` has a ticket, be it good or not.
bool isSetAside(const pb::TensorProto &tensor);

class SetAside {
public:
  /// The data of the next number.
  void add(Blob blob) { blobs.push_back(std::move(blob)); }
  /// Data that takes the place of what `tensor` holds.
  void put(pb::TensorProto &tensor, Blob blob);
  /// The data of a tensor that has a ticket; fails if the ticket is no good.
  llvm::Expected<const Blob *> find(const pb::TensorProto &tensor) const;
  /// Fails unless each data so far belongs to exactly one tensor of `model`.
  llvm::Error checkUses(pb::ModelProto &model) const;

private:
  llvm::Expected<size_t> numberOf(const pb::TensorProto &tensor) const;

  std::vector<Blob> blobs;
};

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SETASIDE_H
