//===- Plots.h - pictures for a page ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_PLOTS_H
#define INGOT_TOOLS_INGOT_CALIBRATE_PLOTS_H

#include "compiler/quantize/Histogram.h"

#include <string>

namespace ingot::tools {

/// Text between tags or in an attribute: what markup and control characters
/// are is escaped, and what is no UTF-8 replaced. Names come from the model.
std::string escapeHtml(const std::string &text);

/// How often a tensor has which values, on a scale of logarithms, and which of
/// them bytes can hold: from `low` to `high`.
std::string plotHistogram(const quantize::Histogram &histogram, double low,
                          double high);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_PLOTS_H
