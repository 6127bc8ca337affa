//===- Details.h - text and JSON of a metric's numbers ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_METRIC_DETAILS_H
#define INGOT_COMPILER_STUDY_METRIC_DETAILS_H

#include "client/Json.h"
#include "compiler/study/metric/Metric.h"

namespace ingot::study {

/// Returns the numbers in words, for example "; relative error 0.01", or "".
std::string describeDetails(const std::vector<Detail> &details);

/// Returns an object with a member for each number.
tools::Json detailsToJson(const std::vector<Detail> &details);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_METRIC_DETAILS_H
