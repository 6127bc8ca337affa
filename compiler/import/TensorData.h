//===- TensorData.h - tensors to elements attributes ------------*- C++ -*-===//
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

/// The bytes of a tensor in the layout of raw_data. The view holds a copy, or
/// refers to the tensor, which must outlive the view.
class TensorView {
public:
  explicit TensorView(llvm::ArrayRef<char> bytes) : bytes(bytes) {}
  explicit TensorView(std::string owned)
      : owned(std::make_shared<std::string>(std::move(owned))),
        bytes(this->owned->data(), this->owned->size()) {}

  llvm::ArrayRef<char> get() const { return bytes; }

private:
  std::shared_ptr<std::string> owned;
  llvm::ArrayRef<char> bytes;
};

/// Reads a numeric tensor from any form of storage.
llvm::Expected<TensorView> readTensor(const Model &model,
                                      const pb::TensorProto &tensor);

/// Converts a numeric tensor to raw data, or sets it aside if it is larger than
/// the limit. Moves the data out of the tensor, so no reference to it remains.
llvm::Error makeUniform(Model &model, pb::TensorProto &tensor);

/// Returns the constant for `tensor`. A large constant refers to the bytes of
/// the file if possible. `name` is the name of the constant in the module's
/// text.
llvm::Expected<mlir::ElementsAttr> makeElements(const Model &model,
                                                const pb::TensorProto &tensor,
                                                llvm::StringRef name,
                                                mlir::MLIRContext *context);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_TENSORDATA_H
