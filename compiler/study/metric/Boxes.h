//===- Boxes.h - the layouts of detected boxes ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_BOXES_H
#define INGOT_COMPILER_STUDY_METRIC_BOXES_H

#include "client/Npy.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::study {

/// The numbers of a box: x1, y1, x2, y2, score, class.
constexpr int64_t kBoxSize = 6;

/// Returns true for N×6 and for images×N×6.
bool isBoxes(const tools::Array &array);

/// The outputs that have boxes.
struct BoxOutputs {
  size_t boxes = 0;
  /// The outputs with a score and with a class for each box. Not set if the
  /// output `boxes` has all of it.
  std::optional<size_t> scores, classes;
};

/// Finds the outputs with boxes among `candidates`. They are one output of N×6,
/// or of N×7 with the image, the corners, the class and the score. Or they are
/// three outputs with corners, scores and classes. Returns nothing if there are
/// none.
std::optional<BoxOutputs> findBoxes(llvm::ArrayRef<tools::Array> outputs,
                                    llvm::ArrayRef<std::string> names,
                                    llvm::ArrayRef<size_t> candidates);

/// Packs the boxes of a run into one array of kBoxSize numbers for each box.
/// Returns an error if scores or classes do not fit to the boxes.
llvm::Expected<tools::Array> packBoxes(llvm::ArrayRef<tools::Array> outputs,
                                       const BoxOutputs &found);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_BOXES_H
