//===- TypeText.h - names of element types ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_TYPETEXT_H
#define INGOT_PASSES_SUPPORT_TYPETEXT_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace ingot {

/// Returns ONNX's name of an element type that MLIR writes as `text`: float32
/// for f32. Returns nullopt if `text` is no element type.
std::optional<std::string> elementName(llvm::StringRef text);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_TYPETEXT_H
