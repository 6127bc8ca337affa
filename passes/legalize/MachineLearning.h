//===- MachineLearning.h - what models of ai.onnx.ml share ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_MACHINELEARNING_H
#define INGOT_PASSES_LEGALIZE_MACHINELEARNING_H

#include "passes/legalize/Helpers.h"

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
/// stand for. Refuses what is not only an output of the model.
LogicalResult tellLabels(Node &node, llvm::json::Array labels);

/// The labels of classes; those that are words are numbers from 0 on, and told.
FailureOr<SmallVector<int64_t>> readLabels(Node &node, StringRef ints,
                                           StringRef strings);

/// Replaces a classifier by the labels of the largest scores and by what
/// post_transform makes of the scores.
LogicalResult replaceByClasses(Node &node, Value scores,
                               ArrayRef<int64_t> labels);

/// The same of one score for two classes, of which the second is meant where
/// the score is above `middle`. With `isShare` the first has the rest to 1,
/// else the opposite.
LogicalResult replaceByBinary(Node &node, Value score, float middle,
                              bool isShare, ArrayRef<int64_t> labels);

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_MACHINELEARNING_H
