//===- Skeleton.h - an ONNX file without its weights ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX's library copies a model several times. To keep weights out of that, the
// file is rewritten before it is parsed: the bytes of each large tensor are
// left out, and the tensor has a ticket for them (see SetAside.h).
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
  /// What was left out, by number: parts of the file.
  std::vector<llvm::ArrayRef<char>> blobs;
};

/// Fails if `file` is not well-formed protobuf, or its graphs are nested deeper
/// than `maxNesting`, or more than `maxBytes` would be left.
llvm::Expected<Skeleton> makeSkeleton(llvm::ArrayRef<char> file,
                                      unsigned maxNesting, int64_t maxBytes);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_SKELETON_H
