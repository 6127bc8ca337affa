//===- UserText.h - messages in the user's words ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_USERTEXT_H
#define INGOT_PASSES_SUPPORT_USERTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ingot {

/// Returns `message` without terms of the compiler's inside. Types become those
/// of ONNX: `tensor<?x3xi64>` is `int64[?,3]`. A complaint about an operation
/// of the compiler becomes an internal error, to be reported.
std::string toUserText(llvm::StringRef message);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_USERTEXT_H
