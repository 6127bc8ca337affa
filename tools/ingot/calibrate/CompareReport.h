//===- CompareReport.h - output of `ingot compare` --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_COMPAREREPORT_H
#define INGOT_TOOLS_INGOT_CALIBRATE_COMPAREREPORT_H

#include "compiler/study/compare/Comparison.h"
#include "tools/ingot/Console.h"

namespace ingot::tools {

/// Prints the result as text.
void printComparison(const study::CompareOptions &options,
                     const study::Comparison &result);

/// Returns the members of the result as JSON.
Json toJson(const study::CompareOptions &options,
            const study::Comparison &result);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_COMPAREREPORT_H
