//===- Skeleton.h - an ONNX file without its weights ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a model file before it is parsed, so that ONNX's library does not
// copy the weights several times. Leaves out the bytes of each large tensor and
// gives the tensor a ticket for them (see SetAside.h).
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_SKELETON_H
#define INGOT_COMPILER_IMPORT_SKELETON_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace ingot::importer {

struct Skeleton {
  /// A serialized ModelProto.
  std::string bytes;
  /// The bytes that were left out, by index. They point into the model file.
  std::vector<llvm::ArrayRef<char>> blobs;
};

/// Returns the skeleton of a model file. Fails if `file` is not well-formed
/// protobuf or if its graphs are nested deeper than `maxNesting`. Also fails if
/// the skeleton would have more than `maxBytes` bytes.
llvm::Expected<Skeleton> makeSkeleton(llvm::ArrayRef<char> file,
                                      unsigned maxNesting, int64_t maxBytes);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SKELETON_H
