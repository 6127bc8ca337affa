//===- Tolerance.cpp - how far outputs may be apart -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/Tolerance.h"

using namespace ingot::study;

void Excess::add(const Tolerance &tolerance, const Array &wantedArray,
                 const Array &gotArray, const std::string &sample) {
  if (!tolerance.absolute && !tolerance.relative)
    return;
  const std::vector<double> a = tools::toDoubles(wantedArray),
                            b = tools::toDoubles(gotArray);
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (tolerance.allows(a[i], b[i]))
      continue;
    if (!count++) {
      place = i;
      wanted = a[i];
      got = b[i];
      where = sample;
    }
  }
}
