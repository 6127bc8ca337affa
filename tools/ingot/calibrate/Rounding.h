//===- Rounding.h - which way weights are rounded ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_ROUNDING_H
#define INGOT_TOOLS_INGOT_CALIBRATE_ROUNDING_H

#include "passes/quantize/CalibrationFile.h"
#include "tools/ingot/calibrate/ScratchModel.h"

namespace ingot::tools {

/// Watches the values that the weights of products are multiplied by, on all
/// samples. Rounds the weights so that the error of the sums is least.
class RoundingFinder {
public:
  /// `model` must be prepared to show Gram matrices.
  RoundingFinder(ScratchModel &model, const Progress &progress)
      : model(model), progress(progress) {}

  /// Makes one pass over the samples, or several if Gram matrices take too much
  /// memory. Returns an error message, or "".
  std::string find(const Preprocess &preprocess,
                   const std::vector<std::string> &data,
                   std::vector<quantize::WeightRounding> &roundings);

private:
  struct Product {
    std::vector<double> gram;
    size_t groups = 0, inner = 0;
    std::vector<float> weights;
  };
  static ingot_status observe(void *user, uint64_t number,
                              const ingot_tensor_view *view);
  void addGram(size_t number, const ingot_tensor_view &view);
  bool round(const Product &product, std::vector<char> &up) const;

  ScratchModel &model;
  const Progress &progress;
  std::vector<Product> products;
  std::vector<float> gathered;
  /// The products of this pass, and the bytes of their Gram matrices.
  size_t first = 0, end = 0, bytes = 0;
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_ROUNDING_H
