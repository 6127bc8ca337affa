//===- Int8Summary.h - which layers are in int8 -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPILE_INT8SUMMARY_H
#define INGOT_COMPILER_STUDY_COMPILE_INT8SUMMARY_H

#include "compiler/driver/DecisionTrace.h"

namespace ingot::study {

/// The layers that `--precision=int8` and `int8-dynamic` decided about.
struct Int8Summary {
  /// The layers of one operation that stay in float32 for the same reason.
  struct Floats {
    std::string operation, reason;
    size_t layers = 0;
  };

  size_t layers = 0, int8Layers = 0;
  /// The most frequent reason comes first.
  std::vector<Floats> floats;

  /// Returns one sentence for people, without a line break.
  std::string toText() const;
};

/// Summarizes the decisions about precision. A layer that several operations or
/// devices compute counts once; it is in int8 if one of them is.
Int8Summary summarizeInt8(const std::vector<Decision> &decisions);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPILE_INT8SUMMARY_H
