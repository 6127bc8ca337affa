//===- Match.cpp - comparing results with expected ones -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Match.h"

#include "client/Text.h"
#include "client/Values.h"

#include <algorithm>
#include <math.h>
#include <string.h>

using namespace ingot;
using namespace ingot::gpu;
using tools::Array;

Array gpu::storedPart(const Array &array) {
  const uint64_t count = tools::elementCount(array);
  if (count <= kMostStored || ingot_dtype_bits(array.dtype) % 8)
    return array;
  Array part;
  part.dtype = array.dtype;
  part.dims = {int64_t(kMostStored)};
  part.data.assign(array.data.begin(),
                   array.data.begin() +
                       int64_t(kMostStored * ingot_dtype_size(array.dtype)));
  return part;
}

void gpu::compare(const Array &whole, const Array &expected,
                  const Tolerance &tolerance, Match &match) {
  const Array got = storedPart(whole);
  if (got.dtype != expected.dtype || got.dims != expected.dims) {
    match.problem =
        std::string("expected ") + ingot_dtype_name(expected.dtype) + " " +
        tools::formatShape(expected.dims.data(), expected.dims.size()) +
        ", but got " + ingot_dtype_name(got.dtype) + " " +
        tools::formatShape(got.dims.data(), got.dims.size());
    return;
  }
  match.elements += tools::elementCount(got);
  if (got.data == expected.data && got.text == expected.text)
    return;
  const std::vector<double> left = tools::toDoubles(got),
                            right = tools::toDoubles(expected);
  const size_t bytes =
      ingot_dtype_bits(got.dtype) % 8 ? 0 : ingot_dtype_size(got.dtype);
  double largest = 0;
  for (double value : right)
    if (isfinite(value))
      largest = std::max(largest, fabs(value));
  for (size_t i = 0; i < left.size(); ++i) {
    const bool bothNaN = isnan(left[i]) && isnan(right[i]);
    if (bothNaN ||
        (bytes && got.dtype != INGOT_STRING
             ? !memcmp(&got.data[i * bytes], &expected.data[i * bytes], bytes)
             : left[i] == right[i]))
      continue;
    ++match.different;
    const double error = left[i] == right[i] ? 0 : fabs(left[i] - right[i]);
    const double allowed = tolerance.absolute +
                           tolerance.relative * fabs(right[i]) +
                           tolerance.scale * largest;
    // Signs of zeros count only where bits must be equal.
    const bool isExact = allowed == 0;
    if (isExact || !(error <= allowed))
      ++match.wrong;
    if (!(error <= match.largestError))
      match.largestError = error;
  }
}
