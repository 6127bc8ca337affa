//===- Plots.h - pictures for a page ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPORT_PLOTS_H
#define INGOT_COMPILER_STUDY_REPORT_PLOTS_H

#include "compiler/quantize/Histogram.h"

#include <string>

namespace ingot::study {

/// Escapes markup and control characters for text between tags or in an
/// attribute, because names in a model may contain them. Replaces bytes that
/// are not UTF-8.
std::string escapeHtml(const std::string &text);

/// Plots the histogram of a tensor on a logarithmic scale. Marks the range that
/// bytes can represent, from `low` to `high`.
std::string plotHistogram(const quantize::Histogram &histogram, double low,
                          double high);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPORT_PLOTS_H
