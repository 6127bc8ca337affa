//===- Details.cpp - text and JSON of a metric's numbers ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Details.h"

#include <algorithm>
#include <cmath>

using namespace ingot;
using namespace ingot::study;

std::string ingot::study::describeDetails(const std::vector<Detail> &details) {
  std::string text;
  for (const Detail &detail : details) {
    // A number that is undefined, as the correlation of constants, says
    // nothing.
    if (!std::isfinite(detail.value))
      continue;
    std::string name = detail.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    char digits[40];
    snprintf(digits, sizeof(digits), " %.4g", detail.value);
    text += (text.empty() ? "; " : ", ") + name + digits;
    if (*detail.unit)
      text += std::string(" ") + detail.unit;
  }
  return text;
}

tools::Json ingot::study::detailsToJson(const std::vector<Detail> &details) {
  tools::Json members = tools::Json::object();
  for (const Detail &detail : details)
    members[detail.name] = tools::toNumber(detail.value);
  return members;
}
