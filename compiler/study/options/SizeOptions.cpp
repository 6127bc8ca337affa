//===- SizeOptions.cpp - sizes of inputs for studies ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/options/SizeOptions.h"

#include "compiler/study/options/ShapeOption.h"

using namespace ingot;
using namespace ingot::study;

std::string study::readSizes(const std::vector<std::string> &shapes,
                             const std::vector<std::string> &dims,
                             InputSizes &sizes) {
  ImportOptions import;
  ShapeProfile ranges;
  std::string error;
  for (const std::string &text : shapes)
    if (!parseShape(text, import, ranges, error))
      return error;
  for (const std::string &text : dims)
    if (!parseDim(text, import, ranges, error))
      return error;
  sizes = {std::move(import.shapes), std::move(import.dims)};
  return ranges.empty() ? ""
                        : "ranges of sizes are for ingot compile: leave a "
                          "dimension open here, or fix it";
}
