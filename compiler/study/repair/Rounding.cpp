//===- Rounding.cpp - which way weights are rounded -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/repair/Rounding.h"

#include "compiler/quantize/RoundWeights.h"
#include "compiler/study/ranges/Watch.h"
#include "compiler/study/runs/Stages.h"
#include "passes/quantize/WeightQuantizer.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace ingot;
using namespace ingot::study;

void RoundingFinder::addGram(size_t number, const ingot_tensor_view &view) {
  Product &product = products[number];
  if (product.gram.empty()) {
    product.groups = size_t(view.dims[0]);
    product.inner = size_t(view.dims[1]);
    const size_t elements = product.groups * product.inner * product.inner;
    bytes += elements * sizeof(double);
    // Always keep the first Gram matrix of a pass.
    if (bytes > mostBytes && number > first) {
      end = std::min(end, number);
      return;
    }
    product.gram.resize(elements);
  }
  auto sum = product.gram.begin();
  forEachPiece(view, gathered, [&](const float *values, size_t size) {
    for (size_t i = 0; i < size; ++i)
      *sum++ += double(values[i]);
  });
}

ingot_status RoundingFinder::observe(void *user, uint64_t shown,
                                     const ingot_tensor_view *view) {
  // Tensors arrive in pairs: a Gram matrix, then the weights.
  auto &self = *static_cast<RoundingFinder *>(user);
  const auto number = size_t(shown / 2);
  if (number < self.first || number >= self.end || view->dtype != INGOT_FLOAT)
    return INGOT_OK;
  if (shown % 2 == 0) {
    self.addGram(number, *view);
    return INGOT_OK;
  }
  std::vector<float> &weights = self.products[number].weights;
  if (weights.empty())
    forEachPiece(*view, self.gathered, [&](const float *values, size_t size) {
      weights.insert(weights.end(), values, values + size);
    });
  return INGOT_OK;
}

/// Returns false if no weight needs rounding.
bool RoundingFinder::round(const Product &product,
                           std::vector<char> &up) const {
  const size_t inner = product.inner, area = inner * inner,
               outputs = product.weights.size() / inner,
               perGroup = outputs / product.groups;
  up.assign((product.weights.size() + 7) / 8, 0);
  bool isRounded = false;
  std::vector<double> steps(inner);
  auto isUp = std::make_unique<bool[]>(inner);
  for (size_t group = 0; group < product.groups; ++group) {
    const auto gram = product.gram.begin() + ptrdiff_t(group * area);
    const quantize::WeightRounder rounder(
        std::vector<double>(gram, gram + ptrdiff_t(area)), inner);
    for (size_t o = group * perGroup; o < (group + 1) * perGroup; ++o) {
      const float *weights = &product.weights[o * inner];
      double largest = 0, scale = 1;
      for (size_t k = 0; k < inner; ++k)
        largest = std::max(largest, std::abs(double(weights[k])));
      const bool isInexact = quantize::findWeightScale(
          inner, [&](size_t k) { return double(weights[k]); }, largest,
          /*bits=*/8, scale);
      for (size_t k = 0; k < inner; ++k)
        steps[k] = double(weights[k]) / scale;
      if (isInexact)
        rounder.round(steps.data(), isUp.get());
      else
        for (size_t k = 0; k < inner; ++k)
          isUp[k] = std::nearbyint(steps[k]) > std::floor(steps[k]);
      isRounded |= isInexact;
      for (size_t k = 0; k < inner; ++k)
        if (isUp[k])
          up[(o * inner + k) / 8] |= char(1 << (o * inner + k) % 8);
    }
  }
  return isRounded;
}

llvm::Error
RoundingFinder::find(const SampleFiles &data,
                     std::vector<quantize::WeightRounding> &roundings,
                     const Progress &progress) {
  const std::vector<std::string> &names = model.observed();
  const size_t count = names.size() / 2;
  for (first = 0; first < count; first = end) {
    products.assign(count, {});
    bytes = 0;
    end = count;
    Samples samples;
    if (llvm::Error error = openSamples(data, samples))
      return error;
    samples.setInputs(model.inputs());
    // The samples count for the first half of a pass's progress. The number of
    // passes is not known in advance.
    const double from = double(first) / double(count);
    llvm::Error error =
        forEachSample(samples, partOf(progress, from, (from + 1) / 2),
                      [&](std::vector<Array> &inputs) -> llvm::Expected<bool> {
                        std::string wrong;
                        if (model.run(inputs, observe, this, wrong) != INGOT_OK)
                          return makeError(samples.where() + ": " + wrong);
                        return true;
                      });
    if (error)
      return error;
    for (size_t i = first; i < end; ++i) {
      if (llvm::Error error = checkCancelled(progress))
        return error;
      progress.step("rounding weights, product " + std::to_string(i + 1) +
                    " of " + std::to_string(count));
      quantize::WeightRounding rounding = {names[2 * i], {}};
      // Skip products that were never computed.
      if (!products[i].gram.empty() && round(products[i], rounding.up))
        roundings.push_back(std::move(rounding));
      products[i] = {};
    }
  }
  return llvm::Error::success();
}
