//===- Int8Weights.h - choices of int8 weights ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_QUANTIZE_INT8WEIGHTS_H
#define INGOT_PASSES_QUANTIZE_INT8WEIGHTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

#include <optional>

namespace ingot::quantize {

/// A user's choice of int8 weights. CPUs that multiply bytes as int16 pairs are
/// faster with 7 bits, or with 8 bits and larger scales.
enum class Int8Weights {
  eight,
  seven,
  /// 8 bits. The scales may grow if all CPU levels of the artifact are such
  /// CPUs.
  fitted
};

/// Returns the choice called `name`, or nullopt.
std::optional<Int8Weights> findInt8Weights(llvm::StringRef name);

/// Returns the number of bits.
int bitsOf(Int8Weights weights);

/// Returns the names of all choices as values of a pass or pipeline option.
llvm::cl::ValuesClass int8WeightsValues();

} // namespace ingot::quantize

#endif // INGOT_PASSES_QUANTIZE_INT8WEIGHTS_H
