//===- GraphApi.h - the functions of libcuda for graphs ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Continues runtime/cuda/DriverApi.h. Names, numbers and the order of fields
// are those of cuda.h for CUDA 12.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_DRIVER_GRAPHAPI_H
#define INGOT_TOOLS_EMUGPU_DRIVER_GRAPHAPI_H

#include "runtime/cuda/DriverApi.h"

namespace ingot::cuda {

/// Further values of CUresult.
enum : Result {
  illegalState = 401,
  notSupported = 801,
  captureUnsupported = 900,
  captureInvalidated = 901
};

/// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNode {
  DevicePointer target;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};

} // namespace ingot::cuda

/// Calls X(NAME, (TYPES)) for each further function. All return a CUresult.
#define INGOT_CUDA_GRAPH_FUNCTIONS(X)                                          \
  X(cuGraphAddMemsetNode,                                                      \
    (ingot::cuda::GraphNode *, ingot::cuda::Graph,                             \
     const ingot::cuda::GraphNode *, size_t, const ingot::cuda::MemsetNode *,  \
     ingot::cuda::Context))                                                    \
  X(cuGraphAddDependencies,                                                    \
    (ingot::cuda::Graph, const ingot::cuda::GraphNode *,                       \
     const ingot::cuda::GraphNode *, size_t))                                  \
  X(cuGraphExecMemsetNodeSetParams,                                            \
    (ingot::cuda::GraphExec, ingot::cuda::GraphNode,                           \
     const ingot::cuda::MemsetNode *, ingot::cuda::Context))                   \
  X(cuGraphUpload, (ingot::cuda::GraphExec, ingot::cuda::Stream))              \
  X(cuStreamBeginCapture_v2, (ingot::cuda::Stream, ingot::cuda::CaptureMode))  \
  X(cuStreamEndCapture, (ingot::cuda::Stream, ingot::cuda::Graph *))           \
  X(cuCtxCreate_v2, (ingot::cuda::Context *, unsigned, ingot::cuda::Device))   \
  X(cuCtxDestroy_v2, (ingot::cuda::Context))

#endif // INGOT_TOOLS_EMUGPU_DRIVER_GRAPHAPI_H
