//===- Watch.h - what runs show of their tensors ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RANGES_WATCH_H
#define INGOT_COMPILER_STUDY_RANGES_WATCH_H

#include "compiler/quantize/Methods.h"
#include "compiler/study/runs/Client.h"

#include "ingot/ingot.h"

#include <memory>
#include <vector>

namespace ingot::study {

/// Calls `visit` with each contiguous piece of a tensor. If there are no
/// contiguous elements, gathers elements first.
template <typename Visit>
void forEachPiece(const ingot_tensor_view &view, std::vector<float> &gathered,
                  Visit visit) {
  auto *data = static_cast<const float *>(view.data);
  // Count the elements of the inner dimensions that are contiguous.
  int64_t together = 1, total = 1;
  int64_t inner = view.rank;
  for (; inner > 0; --inner) {
    if (view.dims[inner - 1] != 1 && view.strides[inner - 1] != together)
      break;
    together *= view.dims[inner - 1];
  }
  for (uint32_t d = 0; d < view.rank; ++d)
    total *= view.dims[d];
  if (total == 0)
    return;
  std::vector<int64_t> index(size_t(inner), 0);
  const bool isSparse = together == 1 && inner > 0;
  gathered.clear();
  for (;;) {
    int64_t at = 0;
    for (int64_t d = 0; d < inner; ++d)
      at += index[size_t(d)] * view.strides[d];
    if (isSparse)
      gathered.push_back(data[at]);
    else
      visit(data + at, size_t(together));
    int64_t d = inner;
    while (d-- > 0 && ++index[size_t(d)] == view.dims[d])
      index[size_t(d)] = 0;
    if (d < 0)
      break;
  }
  if (isSparse)
    visit(gathered.data(), gathered.size());
}

/// Watches runs of a model that shows its tensors. A run waits while values are
/// counted, so several threads count large tensors.
class Watch {
public:
  struct Options {
    /// The statistics that the methods need: bins, or moving averages.
    bool fillsBins = true, averages = false;
    unsigned threads = 1;
  };
  Watch(size_t numTensors, const Options &options);
  ~Watch();

  /// The callback `observe` of ingot_run_options.
  static ingot_status observe(void *user, uint64_t tensor,
                              const ingot_tensor_view *view);

  /// Returns the first tensor with an infinite or NaN value since the last call
  /// of `forgetNotFinite`, or -1.
  int64_t notFinite() const { return firstNotFinite; }
  /// Prepares the next sample after one with values that are not finite.
  void forgetNotFinite();

  quantize::WatchedTensor result(size_t tensor) const;
  /// Returns the time of watching.
  double seconds() const { return spent; }

  /// Returns the survey of the tensors' magnitudes in each sample. The caller
  /// must mark the end of each sample.
  SampleSurvey &survey() { return seen; }

private:
  class Helpers;
  struct Tensor {
    /// The histograms of the threads, which are merged later.
    std::vector<quantize::Histogram> parts;
    double averageMin = 0, averageMax = 0;
    bool hasAverage = false;
    /// The number of values that are not finite and were reported.
    uint64_t numForgotten = 0;

    uint64_t countNotFinite() const;
  };

  void add(size_t number, const ingot_tensor_view &view);
  void count(Tensor &tensor, const float *values, size_t count);

  std::vector<Tensor> tensors;
  std::vector<float> gathered;
  SampleSurvey seen;
  int64_t firstNotFinite = -1;
  double spent = 0;
  Options options;
  std::unique_ptr<Helpers> helpers;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RANGES_WATCH_H
