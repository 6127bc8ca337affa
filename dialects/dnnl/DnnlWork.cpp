//===- DnnlWork.cpp - work of dnnl ops ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::dnnl;
using kernel::Factor;
using kernel::Work;
using kernel::workPerElement;

/// Returns the number of operations per output element: two for each weight of
/// an output channel.
static int64_t flopsOfWeights(Value weights) {
  auto type = cast<ShapedType>(weights.getType());
  return 2 * type.getNumElements() / std::max<int64_t>(1, type.getDimSize(0));
}

StringRef ConvolutionOp::getKernelKind() {
  auto weights = cast<ShapedType>(getWeights().getType());
  return getGroups() > 1 && weights.getDimSize(1) == 1 ? "depthwise convolution"
                                                       : "convolution";
}

Work ConvolutionOp::getWork() {
  return workPerElement(getDst(), {flopsOfWeights(getWeights())});
}

StringRef DeconvolutionOp::getKernelKind() { return "transposed convolution"; }

Work DeconvolutionOp::getWork() {
  return workPerElement(getSrc(), {flopsOfWeights(getWeights())});
}

StringRef MatMulOp::getKernelKind() { return "matmul"; }

Work MatMulOp::getWork() {
  int64_t rank = cast<ShapedType>(getSrc().getType()).getRank();
  int64_t inner = rank - (getTransposeSrc() ? 2 : 1);
  return workPerElement(getDst(), {Factor(getSrc(), inner), 2});
}

StringRef PoolingOp::getKernelKind() { return "pooling"; }

Work PoolingOp::getWork() {
  SmallVector<Factor> each;
  for (int64_t size : getKernel())
    each.push_back(size);
  return workPerElement(getDst(), each);
}

StringRef SoftmaxOp::getKernelKind() { return "softmax"; }

Work SoftmaxOp::getWork() {
  return workPerElement(getDst(), {kernel::kSoftmaxFlops});
}

StringRef LayerNormOp::getKernelKind() { return "normalization"; }

Work LayerNormOp::getWork() {
  return workPerElement(getDst(), {kernel::kNormFlops});
}
