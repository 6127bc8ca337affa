//===- MachineLearning.h - helpers for ai.onnx.ml ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_ML_MACHINELEARNING_H
#define INGOT_PASSES_LEGALIZE_ML_MACHINELEARNING_H

#include "passes/legalize/core/Helpers.h"

namespace llvm::json {
class Array;
} // namespace llvm::json

namespace ingot::legalize {

constexpr StringRef kMlDomain = "ai.onnx.ml";

/// Returns the numeric input i as f32 rows and columns.
FailureOr<Value> readRows(Node &node, size_t i);

/// Applies the attribute post_transform to scores (rows, targets).
FailureOr<Value> transformScores(Node &node, Value scores);

/// Creates a constant of f32.
Value floatConstants(Node &node, ArrayRef<float> values,
                     ArrayRef<int64_t> shape);

/// Records in the model's metadata the labels that the values or columns of
/// output 0 represent. Returns false if the output has uses other than as a
/// model output.
bool tellLabels(Node &node, llvm::json::Array labels);

/// Returns the ids of strings in the model's list of strings. Adds missing
/// strings to the list.
SmallVector<int64_t> placesOf(Node &node, mlir::ArrayAttr texts);

/// Labels of classes.
struct Labels {
  SmallVector<int64_t> numbers;
  Type element;

  int64_t size() const { return int64_t(numbers.size()); }
  /// Returns label i as a scalar.
  Value constant(Node &node, int64_t i) const {
    return intConstant(node, {numbers[i]}, {}, element);
  }
};

/// Reads the labels of classes. If string labels are only used as an output of
/// the model, they become integers from 0 on, and the metadata has the strings.
/// Otherwise they stay strings.
FailureOr<Labels> readLabels(Node &node, StringRef ints, StringRef strings);

void populateEncoders(Legalizers &legalizers);
void populateStrings(Legalizers &legalizers);

/// Replaces a classifier by the labels of the largest scores and by the scores
/// after post_transform.
LogicalResult replaceByClasses(Node &node, Value scores, const Labels &labels);

/// Replaces a classifier that computes a single score for two classes. The
/// label is the second class if the score is above `middle`. The score belongs
/// to the second class. With `isShare`, the score of the first class is 1 minus
/// this score. Otherwise it is the negated score. post_transform may change
/// this.
LogicalResult replaceByBinary(Node &node, Value score, float middle,
                              bool isShare, const Labels &labels);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ML_MACHINELEARNING_H
