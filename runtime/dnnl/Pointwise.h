//===- Pointwise.h - a 1x1 convolution as a matrix product ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces pointwise convolutions by matrix products of [pixels, C] and [C, O]
// on channels-last data. For some of them oneDNN 3.2 has no fast kernel on one
// thread, for example 1024 to 512 channels of 14x14. For matrix products it has
// fast kernels.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_POINTWISE_H
#define INGOT_RUNTIME_DNNL_POINTWISE_H

#include "runtime/dnnl/Record.h"

namespace ingot::dnnl {

/// A record of a matrix product that computes the same as a convolution.
class PointwiseMatMul {
public:
  /// Makes the record. Returns false if `convolution` has a kernel, strides,
  /// groups or pads other than those of a pointwise one. Also returns false for
  /// dynamic sizes or data that is not dense channels-last.
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
