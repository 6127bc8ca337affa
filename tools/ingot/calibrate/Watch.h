//===- Watch.h - what runs show of their tensors ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_WATCH_H
#define INGOT_TOOLS_INGOT_CALIBRATE_WATCH_H

#include "compiler/quantize/Ranges.h"

#include "ingot/ingot.h"

#include <memory>
#include <vector>

namespace ingot::tools {

/// What is known of a tensor of the model.
struct WatchedTensor {
  quantize::Histogram histogram;
  /// Averages of the least and largest of each run, newer ones counting more.
  double averageMin = 0, averageMax = 0;
};

/// Watches runs of a model that shows its tensors. A run waits meanwhile, so
/// that large tensors are counted by several threads.
class Watch {
public:
  struct Options {
    /// Which of them a method needs: bins, or averages.
    bool fillsBins = true, averages = false;
    unsigned threads = 1;
  };
  Watch(size_t numTensors, const Options &options);
  ~Watch();

  /// For ingot_run_options.
  static ingot_status observe(void *user, uint64_t tensor,
                              const ingot_tensor_view *view);

  /// The first tensor that had a value that is not finite, or -1.
  int64_t notFinite() const { return firstNotFinite; }

  WatchedTensor result(size_t tensor) const;

private:
  class Helpers;
  struct Tensor {
    /// One for each thread.
    std::vector<quantize::Histogram> parts;
    double averageMin = 0, averageMax = 0;
    bool hasAverage = false;
  };

  void add(Tensor &tensor, const ingot_tensor_view &view);
  void count(Tensor &tensor, const float *values, size_t count);

  std::vector<Tensor> tensors;
  std::vector<float> gathered;
  int64_t firstNotFinite = -1;
  Options options;
  std::unique_ptr<Helpers> helpers;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_WATCH_H
