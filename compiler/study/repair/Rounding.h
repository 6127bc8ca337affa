//===- Rounding.h - which way weights are rounded ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_REPAIR_ROUNDING_H
#define INGOT_COMPILER_STUDY_REPAIR_ROUNDING_H

#include "compiler/study/runs/ReadSamples.h"
#include "compiler/study/runs/ScratchModel.h"
#include "passes/quantize/CalibrationFile.h"

namespace ingot::study {

/// Watches the data of products on all samples. Then rounds the weights so that
/// the errors of the sums of products are minimal.
class RoundingFinder {
public:
  /// The most bytes of Gram matrices that are kept at once, if there is time
  /// for several passes.
  static constexpr size_t kMostBytes = size_t(512) << 20;

  /// `model` must be prepared to show Gram matrices. At most `mostBytes` of
  /// them are kept at once, but always one.
  RoundingFinder(ScratchModel &model, size_t mostBytes)
      : model(model), mostBytes(mostBytes) {}

  /// Makes one pass over the samples, or several if Gram matrices take too much
  /// memory.
  llvm::Error find(const SampleFiles &data,
                   std::vector<quantize::WeightRounding> &roundings,
                   const Progress &progress);

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
  size_t mostBytes;
  std::vector<Product> products;
  std::vector<float> gathered;
  /// The products of this pass, and the bytes of their Gram matrices.
  size_t first = 0, end = 0, bytes = 0;
};

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_REPAIR_ROUNDING_H
