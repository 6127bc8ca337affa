//===- TypeText.cpp - names of element types ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/TypeText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

std::optional<std::string> ingot::elementName(StringRef text) {
  StringRef known = StringSwitch<StringRef>(text)
                        .Case("i1", "bool")
                        .Case("bf16", "bfloat16")
                        .Case("index", "int64")
                        .Case("si32", "string")
                        .Case("complex<f32>", "complex64")
                        .Case("complex<f64>", "complex128")
                        .Default("");
  if (!known.empty())
    return known.str();
  StringRef name = "uint", digits = text;
  if (!digits.consume_front("ui")) {
    name = "int";
    if (!digits.consume_front("i")) {
      name = "float";
      if (!digits.consume_front("f") || digits.empty() || !isDigit(digits[0]))
        return std::nullopt;
      // Names like f32 or f8E4M3FN.
      return all_of(digits, isAlnum) ? (name + digits.lower()).str()
                                     : std::optional<std::string>();
    }
  }
  if (digits.empty() || !all_of(digits, isDigit))
    return std::nullopt;
  return (name + digits).str();
}
