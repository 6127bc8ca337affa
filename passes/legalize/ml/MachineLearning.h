//===- MachineLearning.h - what models of ai.onnx.ml share ------*- C++ -*-===//
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

/// Input i, of numbers, as f32 rows and columns.
FailureOr<Value> readRows(Node &node, size_t i);

/// Scores (rows, targets) by the attribute post_transform.
FailureOr<Value> transformScores(Node &node, Value scores);

/// A constant of f32.
Value floatConstants(Node &node, ArrayRef<float> values,
                     ArrayRef<int64_t> shape);

/// Says in the model's metadata what the numbers of output 0, or its columns,
/// stand for, if that is only an output of the model.
bool tellLabels(Node &node, llvm::json::Array labels);

/// The places of strings in the model's list, to which those are added that are
/// not there.
SmallVector<int64_t> placesOf(Node &node, mlir::ArrayAttr texts);

/// What classes are called.
struct Labels {
  SmallVector<int64_t> numbers;
  Type element;

  int64_t size() const { return int64_t(numbers.size()); }
  /// One of them, a scalar.
  Value constant(Node &node, int64_t i) const {
    return intConstant(node, {numbers[i]}, {}, element);
  }
};

/// The labels of classes. Those that are words are numbers from 0 on, and told,
/// where they are only an output of the model; else they are strings.
FailureOr<Labels> readLabels(Node &node, StringRef ints, StringRef strings);

void populateEncoders(Legalizers &legalizers);
void populateStrings(Legalizers &legalizers);

/// Replaces a classifier by the labels of the largest scores and by what
/// post_transform makes of the scores.
LogicalResult replaceByClasses(Node &node, Value scores, const Labels &labels);

/// Replaces a classifier by the labels and the scores of two classes of which
/// one score is known: the second class is meant where it is above `middle`.
/// With `isShare` the score of the first class is the rest to 1, else the
/// opposite, unless post_transform says otherwise.
LogicalResult replaceByBinary(Node &node, Value score, float middle,
                              bool isShare, const Labels &labels);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_ML_MACHINELEARNING_H
