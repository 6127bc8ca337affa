//===- OutputSummary.cpp - what a run made --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/run/OutputSummary.h"

#include "client/Text.h"
#include "client/Values.h"

using namespace ingot::tools;

/// Returns the first elements of an output.
static Json valuesOf(const Array &array, const Statistics &statistics) {
  Json values = Json::array();
  if (array.dtype == INGOT_STRING)
    for (uint64_t i = 0; i < elementCount(array) && i < kMostFirst; ++i)
      values.push_back(std::string(stringAt(array, i)));
  for (double value : statistics.firstNumbers)
    values.push_back(toNumber(value));
  return values;
}

OutputSummary
ingot::tools::summarizeOutputs(const std::vector<std::string> &names,
                               const std::vector<Array> &outputs) {
  std::vector<std::vector<std::string>> rows = {
      {"output", "type", "shape", "min", "max", "mean", "first values"}};
  OutputSummary summary;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Array &array = outputs[i];
    Statistics statistics = summarize(array);
    std::string name = formatLine(names[i], 60);
    summary.outputs.push_back({{"name", names[i]},
                               {"dtype", ingot_dtype_name(array.dtype)},
                               {"shape", array.dims},
                               {"min", toNumber(statistics.leastNumber)},
                               {"max", toNumber(statistics.largestNumber)},
                               {"mean", toNumber(statistics.meanNumber)},
                               {"not_numbers", statistics.notNumbers},
                               {"elements", elementCount(array)},
                               {"first_values", valuesOf(array, statistics)}});
    rows.push_back({name, ingot_dtype_name(array.dtype),
                    formatShape(array.dims.data(), array.dims.size()),
                    statistics.least, statistics.largest, statistics.mean,
                    statistics.first});
    if (statistics.notNumbers)
      summary.warnings.push_back("output '" + name + "' has " +
                                 std::to_string(statistics.notNumbers) +
                                 " elements that are infinite or not a number");
  }
  summary.table = formatTable(rows);
  return summary;
}
