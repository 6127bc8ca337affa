//===- NGrams.h - TfIdfVectorizer -------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_TEXT_NGRAMS_H
#define INGOT_PASSES_LEGALIZE_TEXT_NGRAMS_H

#include "passes/legalize/core/Legalize.h"

namespace ingot::legalize {

/// Legalizes ONNX's TfIdfVectorizer of integers.
LogicalResult legalizeTfIdfVectorizer(Node &node);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_TEXT_NGRAMS_H
