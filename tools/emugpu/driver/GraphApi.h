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

using Graph = struct GraphObject *;
using GraphNode = struct GraphNodeObject *;
using GraphExec = struct GraphExecObject *;

/// Further values of CUresult.
enum : Result {
  illegalState = 401,
  notSupported = 801,
  captureUnsupported = 900,
  captureInvalidated = 901
};

/// Values of CUstreamCaptureStatus and of CUstreamCaptureMode.
enum CaptureStatus : int {
  captureNone = 0,
  captureActive = 1,
  captureIsInvalidated = 2
};
enum CaptureMode : int { captureGlobal, captureThreadLocal, captureRelaxed };

/// CUDA_KERNEL_NODE_PARAMS_v2.
struct KernelNode {
  Function function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void **parameters, **extra;
  void *kernel;
  Context context;
};

/// The source or the target of a CUDA_MEMCPY3D.
struct CopySide {
  size_t x, y, z, level;
  MemoryType type;
  const void *host;
  DevicePointer device;
  void *array, *reserved;
  size_t pitch, height;
};

/// CUDA_MEMCPY3D. cuda.h declares the host's target without const.
struct CopyNode {
  CopySide source, target;
  size_t bytes, height, depth;
};

/// CUDA_MEMSET_NODE_PARAMS.
struct MemsetNode {
  DevicePointer target;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};

} // namespace ingot::cuda

/// Calls X(NAME, (TYPES)) for each function. All return a CUresult.
#define INGOT_CUDA_GRAPH_FUNCTIONS(X)                                          \
  X(cuGraphCreate, (ingot::cuda::Graph *, unsigned))                           \
  X(cuGraphDestroy, (ingot::cuda::Graph))                                      \
  X(cuGraphAddKernelNode_v2,                                                   \
    (ingot::cuda::GraphNode *, ingot::cuda::Graph,                             \
     const ingot::cuda::GraphNode *, size_t, const ingot::cuda::KernelNode *)) \
  X(cuGraphAddMemcpyNode,                                                      \
    (ingot::cuda::GraphNode *, ingot::cuda::Graph,                             \
     const ingot::cuda::GraphNode *, size_t, const ingot::cuda::CopyNode *,    \
     ingot::cuda::Context))                                                    \
  X(cuGraphAddMemsetNode,                                                      \
    (ingot::cuda::GraphNode *, ingot::cuda::Graph,                             \
     const ingot::cuda::GraphNode *, size_t, const ingot::cuda::MemsetNode *,  \
     ingot::cuda::Context))                                                    \
  X(cuGraphAddDependencies,                                                    \
    (ingot::cuda::Graph, const ingot::cuda::GraphNode *,                       \
     const ingot::cuda::GraphNode *, size_t))                                  \
  X(cuGraphInstantiateWithFlags,                                               \
    (ingot::cuda::GraphExec *, ingot::cuda::Graph, unsigned long long))        \
  X(cuGraphExecDestroy, (ingot::cuda::GraphExec))                              \
  X(cuGraphExecKernelNodeSetParams_v2,                                         \
    (ingot::cuda::GraphExec, ingot::cuda::GraphNode,                           \
     const ingot::cuda::KernelNode *))                                         \
  X(cuGraphExecMemcpyNodeSetParams,                                            \
    (ingot::cuda::GraphExec, ingot::cuda::GraphNode,                           \
     const ingot::cuda::CopyNode *, ingot::cuda::Context))                     \
  X(cuGraphExecMemsetNodeSetParams,                                            \
    (ingot::cuda::GraphExec, ingot::cuda::GraphNode,                           \
     const ingot::cuda::MemsetNode *, ingot::cuda::Context))                   \
  X(cuGraphUpload, (ingot::cuda::GraphExec, ingot::cuda::Stream))              \
  X(cuGraphLaunch, (ingot::cuda::GraphExec, ingot::cuda::Stream))              \
  X(cuStreamBeginCapture_v2, (ingot::cuda::Stream, ingot::cuda::CaptureMode))  \
  X(cuStreamEndCapture, (ingot::cuda::Stream, ingot::cuda::Graph *))           \
  X(cuStreamIsCapturing, (ingot::cuda::Stream, ingot::cuda::CaptureStatus *))

#endif // INGOT_TOOLS_EMUGPU_DRIVER_GRAPHAPI_H
