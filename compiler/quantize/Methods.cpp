//===- Methods.cpp - ways to find a tensor's range ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/quantize/Methods.h"

using namespace ingot;
using namespace ingot::quantize;

const std::vector<Method> &quantize::allMethods() {
  static const std::vector<Method> all = {
      Method::mse,     Method::percentile,    Method::minMax,
      Method::entropy, Method::movingAverage, Method::best};
  return all;
}

const char *quantize::nameOf(Method method) {
  switch (method) {
  case Method::entropy:
    return "entropy";
  case Method::percentile:
    return "percentile";
  case Method::mse:
    return "mse";
  case Method::minMax:
    return "minmax";
  case Method::movingAverage:
    return "moving-average";
  case Method::best:
    return "best";
  }
  return "";
}

std::optional<Method> quantize::findMethod(const std::string &name) {
  for (Method method : allMethods())
    if (name == nameOf(method))
      return method;
  return std::nullopt;
}

std::string quantize::methodNames() {
  std::string text;
  const std::vector<Method> &all = allMethods();
  for (size_t i = 0; i < all.size(); ++i)
    text += std::string(i == 0                ? ""
                        : i + 1 == all.size() ? " or "
                                              : ", ") +
            nameOf(all[i]);
  return text;
}

bool quantize::isPercentile(double percentile) {
  return percentile > 50 && percentile <= 100;
}

bool MethodChoice::needsBins() const {
  return method != Method::minMax && method != Method::movingAverage;
}

bool MethodChoice::needsAverages() const {
  return method == Method::movingAverage || method == Method::best;
}

std::vector<MethodChoice> MethodChoice::choices() const {
  if (method != Method::best)
    return {*this};
  std::vector<MethodChoice> all;
  for (Method one : allMethods())
    if (one != Method::best)
      all.push_back({one, percentile});
  return all;
}

Range MethodChoice::rangeOf(const WatchedTensor &tensor) const {
  switch (method) {
  case Method::minMax:
    return minMaxRange(tensor.histogram);
  case Method::movingAverage:
    return {tensor.averageMin, tensor.averageMax};
  case Method::percentile:
    return percentileRange(tensor.histogram, percentile);
  case Method::mse:
    return mseRange(tensor.histogram);
  case Method::entropy:
    return entropyRange(tensor.histogram);
  case Method::best:
    break;
  }
  return {};
}
