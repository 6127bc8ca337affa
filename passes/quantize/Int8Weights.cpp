//===- Int8Weights.cpp - choices of int8 weights --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Int8Weights.h"

#include "llvm/ADT/STLExtras.h"

using namespace ingot::quantize;

namespace {

struct Row {
  Int8Weights weights;
  llvm::StringLiteral name, description;
};

} // namespace

static constexpr Row kRows[] = {
    {Int8Weights::fitted, "auto",
     "8 bits; scales may grow if all CPU levels multiply bytes as int16"},
    {Int8Weights::seven, "7", "7 bits"},
    {Int8Weights::eight, "8", "8 bits"},
};

std::optional<Int8Weights>
ingot::quantize::findInt8Weights(llvm::StringRef name) {
  for (const Row &row : kRows)
    if (row.name == name)
      return row.weights;
  return std::nullopt;
}

int ingot::quantize::bitsOf(Int8Weights weights) {
  return weights == Int8Weights::seven ? 7 : 8;
}

llvm::cl::ValuesClass ingot::quantize::int8WeightsValues() {
  auto value = [](const Row &row) {
    return llvm::cl::OptionEnumValue{row.name, int(row.weights),
                                     row.description};
  };
  return {value(kRows[0]), value(kRows[1]), value(kRows[2])};
}
