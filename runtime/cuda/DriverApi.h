//===- DriverApi.h - the functions of libcuda that we call ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares a part of NVIDIA's driver API, so that no header of the CUDA Toolkit
// is needed. Names and numbers are those of cuda.h for CUDA 12. Where cuda.h is
// installed, a test compares them.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CUDA_DRIVERAPI_H
#define INGOT_RUNTIME_CUDA_DRIVERAPI_H

#include <stddef.h>

namespace ingot::cuda {

using Result = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Graph = struct GraphObject *;
using GraphNode = struct GraphNodeObject *;
using GraphExec = struct GraphExecObject *;

/// Values of CUresult.
enum : Result {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  eccUncorrectable = 214,
  invalidPtx = 218,
  unsupportedPtxVersion = 222,
  invalidHandle = 400,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchOutOfResources = 701,
  launchTimeout = 702,
  assertFailed = 710,
  hardwareStackError = 714,
  illegalInstruction = 715,
  misalignedAddress = 716,
  invalidAddressSpace = 717,
  invalidPc = 718,
  launchFailed = 719,
  unknown = 999
};

/// Values of CUdevice_attribute.
enum DeviceAttribute : int {
  maxThreadsPerBlock = 1,
  maxSharedMemoryPerBlock = 8,
  warpSize = 10,
  multiprocessorCount = 16,
  computeCapabilityMajor = 75,
  computeCapabilityMinor = 76,
  maxSharedMemoryPerBlockOptin = 97
};

/// Values of CUfunction_attribute.
enum FunctionAttribute : int {
  functionMaxThreads = 0,
  functionSharedBytes = 1,
  functionLocalBytes = 3,
  functionRegisters = 4,
  functionMaxDynamicSharedBytes = 8
};

/// Values of CUpointer_attribute.
enum PointerAttribute : int {
  pointerMemoryType = 2,
  pointerIsManaged = 8,
  pointerDevice = 9
};
/// Values of CUmemorytype.
enum MemoryType : unsigned { memoryHost = 1, memoryDevice = 2 };

/// Flags of streams, events and pinned memory.
enum : unsigned {
  streamNonBlocking = 1,
  eventDisableTiming = 2,
  hostAllocPortable = 1
};

/// Values of CUstreamCaptureStatus.
enum CaptureStatus : int {
  captureNone = 0,
  captureActive = 1,
  captureIsInvalidated = 2
};
/// Values of CUstreamCaptureMode.
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

} // namespace ingot::cuda

/// Calls X(NAME, (TYPES)) for each function. All return a CUresult.
#define INGOT_CUDA_DRIVER_FUNCTIONS(X)                                         \
  X(cuInit, (unsigned))                                                        \
  X(cuDriverGetVersion, (int *))                                               \
  X(cuGetErrorName, (ingot::cuda::Result, const char **))                      \
  X(cuGetErrorString, (ingot::cuda::Result, const char **))                    \
  X(cuDeviceGetCount, (int *))                                                 \
  X(cuDeviceGet, (ingot::cuda::Device *, int))                                 \
  X(cuDeviceGetName, (char *, int, ingot::cuda::Device))                       \
  X(cuDeviceTotalMem_v2, (size_t *, ingot::cuda::Device))                      \
  X(cuDeviceGetAttribute,                                                      \
    (int *, ingot::cuda::DeviceAttribute, ingot::cuda::Device))                \
  X(cuDevicePrimaryCtxRetain, (ingot::cuda::Context *, ingot::cuda::Device))   \
  X(cuDevicePrimaryCtxRelease_v2, (ingot::cuda::Device))                       \
  X(cuCtxPushCurrent_v2, (ingot::cuda::Context))                               \
  X(cuCtxPopCurrent_v2, (ingot::cuda::Context *))                              \
  X(cuCtxGetCurrent, (ingot::cuda::Context *))                                 \
  X(cuCtxSynchronize, ())                                                      \
  X(cuModuleLoadData, (ingot::cuda::Module *, const void *))                   \
  X(cuModuleUnload, (ingot::cuda::Module))                                     \
  X(cuModuleGetFunction,                                                       \
    (ingot::cuda::Function *, ingot::cuda::Module, const char *))              \
  X(cuModuleGetGlobal_v2, (ingot::cuda::DevicePointer *, size_t *,             \
                           ingot::cuda::Module, const char *))                 \
  X(cuFuncGetAttribute,                                                        \
    (int *, ingot::cuda::FunctionAttribute, ingot::cuda::Function))            \
  X(cuFuncSetAttribute,                                                        \
    (ingot::cuda::Function, ingot::cuda::FunctionAttribute, int))              \
  X(cuLaunchKernel,                                                            \
    (ingot::cuda::Function, unsigned, unsigned, unsigned, unsigned, unsigned,  \
     unsigned, unsigned, ingot::cuda::Stream, void **, void **))               \
  X(cuMemGetInfo_v2, (size_t *, size_t *))                                     \
  X(cuMemAlloc_v2, (ingot::cuda::DevicePointer *, size_t))                     \
  X(cuMemFree_v2, (ingot::cuda::DevicePointer))                                \
  X(cuMemHostAlloc, (void **, size_t, unsigned))                               \
  X(cuMemFreeHost, (void *))                                                   \
  X(cuPointerGetAttribute,                                                     \
    (void *, ingot::cuda::PointerAttribute, ingot::cuda::DevicePointer))       \
  X(cuMemcpyHtoDAsync_v2,                                                      \
    (ingot::cuda::DevicePointer, const void *, size_t, ingot::cuda::Stream))   \
  X(cuMemcpyDtoHAsync_v2,                                                      \
    (void *, ingot::cuda::DevicePointer, size_t, ingot::cuda::Stream))         \
  X(cuMemcpyDtoDAsync_v2,                                                      \
    (ingot::cuda::DevicePointer, ingot::cuda::DevicePointer, size_t,           \
     ingot::cuda::Stream))                                                     \
  X(cuMemsetD8Async,                                                           \
    (ingot::cuda::DevicePointer, unsigned char, size_t, ingot::cuda::Stream))  \
  X(cuStreamCreate, (ingot::cuda::Stream *, unsigned))                         \
  X(cuStreamDestroy_v2, (ingot::cuda::Stream))                                 \
  X(cuStreamSynchronize, (ingot::cuda::Stream))                                \
  X(cuStreamGetCtx, (ingot::cuda::Stream, ingot::cuda::Context *))             \
  X(cuStreamIsCapturing, (ingot::cuda::Stream, ingot::cuda::CaptureStatus *))  \
  X(cuThreadExchangeStreamCaptureMode, (ingot::cuda::CaptureMode *))           \
  X(cuStreamQuery, (ingot::cuda::Stream))                                      \
  X(cuStreamWaitEvent, (ingot::cuda::Stream, ingot::cuda::Event, unsigned))    \
  X(cuEventCreate, (ingot::cuda::Event *, unsigned))                           \
  X(cuEventDestroy_v2, (ingot::cuda::Event))                                   \
  X(cuEventRecord, (ingot::cuda::Event, ingot::cuda::Stream))                  \
  X(cuEventQuery, (ingot::cuda::Event))                                        \
  X(cuEventSynchronize, (ingot::cuda::Event))                                  \
  X(cuEventElapsedTime, (float *, ingot::cuda::Event, ingot::cuda::Event))     \
  X(cuGraphCreate, (ingot::cuda::Graph *, unsigned))                           \
  X(cuGraphDestroy, (ingot::cuda::Graph))                                      \
  X(cuGraphAddKernelNode_v2,                                                   \
    (ingot::cuda::GraphNode *, ingot::cuda::Graph,                             \
     const ingot::cuda::GraphNode *, size_t, const ingot::cuda::KernelNode *)) \
  X(cuGraphAddMemcpyNode,                                                      \
    (ingot::cuda::GraphNode *, ingot::cuda::Graph,                             \
     const ingot::cuda::GraphNode *, size_t, const ingot::cuda::CopyNode *,    \
     ingot::cuda::Context))                                                    \
  X(cuGraphInstantiateWithFlags,                                               \
    (ingot::cuda::GraphExec *, ingot::cuda::Graph, unsigned long long))        \
  X(cuGraphExecDestroy, (ingot::cuda::GraphExec))                              \
  X(cuGraphExecKernelNodeSetParams_v2,                                         \
    (ingot::cuda::GraphExec, ingot::cuda::GraphNode,                           \
     const ingot::cuda::KernelNode *))                                         \
  X(cuGraphExecMemcpyNodeSetParams,                                            \
    (ingot::cuda::GraphExec, ingot::cuda::GraphNode,                           \
     const ingot::cuda::CopyNode *, ingot::cuda::Context))                     \
  X(cuGraphLaunch, (ingot::cuda::GraphExec, ingot::cuda::Stream))

#endif // INGOT_RUNTIME_CUDA_DRIVERAPI_H
