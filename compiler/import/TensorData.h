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

/// The bytes of a tensor as raw_data lays them out: the tensor's own, which it
/// must outlive, or a copy.
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

/// Reads a tensor of numbers in whichever form it is kept.
llvm::Expected<TensorView> readTensor(const Model &model,
                                      const pb::TensorProto &tensor);

/// Brings a tensor of numbers to one of two forms: raw, or set aside if it has
/// more bytes than may stay. Its data is moved, never referred to.
llvm::Error makeUniform(Model &model, pb::TensorProto &tensor);

/// The constant that `tensor` is; a large one refers to the file where it can,
/// and is called `name` in the text of the module.
llvm::Expected<mlir::ElementsAttr> makeElements(const Model &model,
                                                const pb::TensorProto &tensor,
                                                llvm::StringRef name,
                                                mlir::MLIRContext *context);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_TENSORDATA_H
