//===- TensorData.h - tensors to elements attributes -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_TENSORDATA_H
#define INGOT_COMPILER_IMPORT_TENSORDATA_H

#include "compiler/import/Model.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace ingot::importer {

/// The bytes of a tensor as raw_data lays them out, its own or another's.
class TensorBytes {
public:
  explicit TensorBytes(Blob blob) : blob(std::move(blob)) {}
  explicit TensorBytes(std::string owned)
      : owned(std::make_shared<std::string>(std::move(owned))) {}

  llvm::ArrayRef<char> get() const {
    return owned ? llvm::ArrayRef<char>(owned->data(), owned->size())
                 : blob.bytes;
  }
  const Blob &getBlob() const { return blob; }
  Blob takeBlob() { return owned ? Blob{get(), owned} : blob; }

private:
  Blob blob;
  std::shared_ptr<std::string> owned;
};

/// Reads a tensor of numbers in whichever form it is kept. May refer to
/// `tensor`.
llvm::Expected<TensorBytes> readTensor(const Model &model,
                                       const pb::TensorProto &tensor);

/// The constant that `tensor` is; a large one refers to the file where it can,
/// and is called `name` in the text of the module.
llvm::Expected<mlir::ElementsAttr>
makeElements(const Model &model, const pb::TensorProto &tensor,
             llvm::StringRef name, mlir::MLIRContext *context);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_TENSORDATA_H
