//===- Pointwise.cpp - a 1x1 convolution as a matrix product --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/Pointwise.h"

using namespace ingot::dnnl;

/// Returns the number of pixels of data with dims N, C, D…. Returns -1 if the
/// data is not dense channels-last.
static int64_t countPixels(const Tensor &tensor) {
  if (tensor.rank < 3 || tensor.strides[1] != 1)
    return -1;
  int64_t pixels = 1;
  for (int64_t i = tensor.rank - 1; i >= 0; --i) {
    if (i == 1)
      continue;
    if (tensor.dims[i] != 1 && tensor.strides[i] != pixels * tensor.dims[1])
      return -1;
    pixels *= tensor.dims[i];
  }
  return pixels;
}

/// Returns true if every dimension except the second is 1. Then the tensor has
/// one value per channel, or one value.
static bool isPerChannel(const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.rank; ++i)
    if (i != 1 && tensor.dims[i] != 1)
      return false;
  return tensor.rank > 1;
}

bool PointwiseMatMul::convert(const Tensor &from, Tensor &to, int64_t index) {
  int64_t *d = dims[index], *s = strides[index];
  to = from;
  to.rank = 2;
  to.dims = d;
  to.strides = s;
  switch (from.role) {
  case INGOT_DNNL_WEIGHTS: // Weights O, C, 1… become C, O.
    for (int64_t i = 2; i < from.rank; ++i)
      if (from.dims[i] != 1)
        return false;
    d[0] = from.dims[1];
    d[1] = from.dims[0];
    s[0] = from.strides[1];
    s[1] = from.strides[0];
    return true;
  case INGOT_DNNL_BIAS:
    d[0] = 1;
    d[1] = from.dims[0];
    s[0] = d[1];
    s[1] = 1;
    return from.rank == 1;
  default:
    break;
  }
  d[1] = from.rank > 1 ? from.dims[1] : 0;
  s[0] = d[1];
  s[1] = 1;
  if (from.role == INGOT_DNNL_OPERAND && isPerChannel(from)) {
    d[0] = 1;
    return from.dims[1] == 1 || from.strides[1] == 1;
  }
  d[0] = countPixels(from);
  return d[0] > 0;
}

bool PointwiseMatMul::init(const Record &convolution) {
  const Tensor *src = convolution.find(INGOT_DNNL_SRC);
  const Tensor *weights = convolution.find(INGOT_DNNL_WEIGHTS);
  const Tensor *dst = convolution.find(INGOT_DNNL_DST);
  if (convolution.kind != INGOT_DNNL_CONVOLUTION || convolution.numDynamic ||
      !src || !weights || !dst || weights->rank != src->rank)
    return false;
  // Params are strides and dilations, followed by pads.
  int64_t spatial = src->rank - 2;
  for (int64_t i = 0; i < convolution.numParams; ++i)
    if (convolution.params[i] != (i < 2 * spatial ? 1 : 0))
      return false;
  record = convolution;
  record.kind = INGOT_DNNL_MATMUL;
  record.numParams = 0;
  int64_t pixels = countPixels(*src);
  for (int64_t i = 0; i < convolution.numTensors; ++i) {
    if (!convert(convolution.tensors[i], record.tensors[i], i))
      return false;
    int64_t rows = dims[i][0];
    bool isData = convolution.tensors[i].role == INGOT_DNNL_DST ||
                  convolution.tensors[i].role == INGOT_DNNL_OPERAND;
    if (isData && rows != pixels && rows != 1)
      return false;
  }
  return true;
}
