//===- OutputDifference.cpp - an output in two precisions -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/runs/OutputDifference.h"

using namespace ingot;
using namespace ingot::study;

std::vector<int64_t> ingot::study::largestPlaces(const Array &array) {
  std::vector<int64_t> places;
  const auto row = size_t(array.dims.empty() ? 1 : array.dims.back());
  if (row < 2)
    return places;
  const std::vector<double> values = tools::toDoubles(array);
  for (size_t at = 0; at + row <= values.size(); at += row) {
    auto begin = values.begin() + ptrdiff_t(at);
    places.push_back(std::max_element(begin, begin + ptrdiff_t(row)) - begin);
  }
  return places;
}

void OutputDifference::add(const Array &wanted, const Array &got,
                           double weight) {
  const std::vector<double> a = tools::toDoubles(wanted),
                            b = tools::toDoubles(got);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference.add(a[i], b[i], weight);
  const std::vector<int64_t> places = largestPlaces(wanted),
                             found = largestPlaces(got);
  rows += weight * double(places.size());
  for (size_t i = 0; i < std::min(places.size(), found.size()); ++i)
    agreeing += places[i] == found[i] ? weight : 0;
}
