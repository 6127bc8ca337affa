//===- Message.h - messages on one line -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_MESSAGE_H
#define INGOT_COMPILER_IMPORT_MESSAGE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace ingot::importer {

/// Returns a message of ONNX's library, without irrelevant parts and starting
/// with the node's name.
std::string cleanOnnxMessage(llvm::StringRef message);

/// Returns a message of ONNX's parser as a position and an error text.
std::string cleanParserMessage(llvm::StringRef message);

/// Returns a name from the model in quotes, escaped and shortened.
std::string quote(llvm::StringRef name);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_MESSAGE_H
