//===- Pointwise.h - a 1x1 convolution as a matrix product ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN 3.2 has no fast kernel for some pointwise convolutions on one thread
// (1024 to 512 channels of 14x14 take seconds in its reference code). On
// channels-last data they are products of [pixels, C] and [C, O], for which it
// has.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_POINTWISE_H
#define INGOT_RUNTIME_DNNL_POINTWISE_H

#include "runtime/dnnl/Record.h"

namespace ingot::dnnl {

/// The record of a matrix product that computes what a convolution does.
class PointwiseMatMul {
public:
  /// False if `convolution` is not one: kernel, strides, groups or pads other
  /// than 1, dynamic sizes, data that is not dense channels-last.
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
