//===- UserText.h - messages in terms of ONNX -------------------*- C++ -*-===//
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

/// Returns `message` without internal terms of the compiler. Types become ONNX
/// types: `tensor<?x3xi64>` is `int64[?,3]`. An error about an operation of the
/// compiler becomes an internal error, which asks for a report.
std::string toUserText(llvm::StringRef message);

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_USERTEXT_H
