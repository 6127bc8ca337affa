//===- Pointwise.h - a 1x1 convolution as a matrix product ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces pointwise convolutions on channels-last data by matrix products of
// [pixels, C] and [C, O]. On one thread, oneDNN 3.2 has no fast kernel for some
// of these convolutions, such as 1024 to 512 channels of 14x14. For the matrix
// products it has fast kernels.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_POINTWISE_H
#define INGOT_RUNTIME_DNNL_POINTWISE_H

#include "runtime/dnnl/Record.h"

namespace ingot::dnnl {

/// A record of a matrix product that computes the result of a convolution.
class PointwiseMatMul {
public:
  /// Makes the record. Returns false if kernel, strides, groups or pads of
  /// `convolution` are not those of a pointwise convolution. Also returns false
  /// if sizes are dynamic or data is not dense channels-last.
  bool init(const Record &convolution);
  const Record &get() const { return record; }

private:
  bool convert(const Tensor &from, Tensor &to, int64_t index);

  Record record;
  int64_t dims[INGOT_DNNL_MAX_TENSORS][2];
  int64_t strides[INGOT_DNNL_MAX_TENSORS][2];
};

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_POINTWISE_H
