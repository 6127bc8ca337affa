//===- SetAside.h - large tensors outside of the model ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps the data of large tensors outside of the model, because ONNX's library
// copies a model several times. Such a tensor has data_location EXTERNAL and a
// ticket: the index and the size of its data. A ticket is valid only if data of
// this index and size exists, and if the tensor's type and shape need exactly
// this size.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_SETASIDE_H
#define INGOT_COMPILER_IMPORT_SETASIDE_H

#include "compiler/import/MappedFile.h"

// protobuf's headers cause warnings.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#include "onnx/onnx_pb.h"
#pragma clang diagnostic pop

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace ingot::importer {

/// Short name for ONNX's own classes, because ingot::onnx is the dialect.
namespace pb = ::onnx;

/// Size limit in bytes. Larger tensors are set aside. Smaller tensors stay in
/// the model, where shape inference and version conversion see their values.
constexpr size_t kMaxInlineBytes = 1024;
/// Size limit for 32-bit and 64-bit integers. It is larger because they may be
/// shapes.
constexpr size_t kMaxInlineIntBytes = 32 * 1024;

/// Returns the size limit for a TensorProto.DataType.
size_t maxInlineBytes(int64_t dataType);

/// Key of the `external_data` entry that holds a ticket. Models that use this
/// key are refused.
constexpr llvm::StringLiteral kTicketKey = "ingot.blob";

std::string makeTicket(size_t number, size_t bytes);

/// Clears every field that may hold a tensor's data except `raw_data`.
void clearOtherData(pb::TensorProto &tensor);

/// Returns true if `tensor` has a ticket, valid or not.
bool isSetAside(const pb::TensorProto &tensor);

class SetAside {
public:
  /// Appends data under the next index.
  void add(Blob blob) { blobs.push_back(std::move(blob)); }
  /// Replaces the data of `tensor` by a ticket for `blob`.
  void put(pb::TensorProto &tensor, Blob blob);
  /// Returns the data of a tensor that has a ticket. Fails if the ticket is
  /// invalid.
  llvm::Expected<const Blob *> find(const pb::TensorProto &tensor) const;
  /// Fails unless each entry added so far belongs to exactly one tensor of
  /// `model`.
  llvm::Error checkUses(pb::ModelProto &model) const;

private:
  llvm::Expected<size_t> numberOf(const pb::TensorProto &tensor) const;

  std::vector<Blob> blobs;
};

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SETASIDE_H
