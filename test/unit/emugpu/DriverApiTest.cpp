//===- DriverApiTest.cpp - our declarations agree with cuda.h -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/emugpu/driver/GraphApi.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

#if CUDA_VERSION >= 13000
// The headers name later versions of the functions.
extern "C" CUresult cuCtxCreate_v2(CUcontext *, unsigned, CUdevice);
#undef cuGraphAddDependencies
extern "C" CUresult cuGraphAddDependencies(CUgraph, const CUgraphNode *,
                                           const CUgraphNode *, size_t);
#endif

/// Returns true if both functions have as many parameters, of equal sizes.
template <typename... A, typename... B, typename R, typename S>
static constexpr bool agree(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) == sizeof...(B))
    return sizeof(R) == sizeof(S) && ((sizeof(A) == sizeof(B)) && ...);
  else
    return false;
}

TEST(DriverApi, AgreesWithTheToolkit) {
#define INGOT_COMPARE(NAME, TYPES)                                             \
  static_assert(agree(decltype (&::NAME)(nullptr),                             \
                      static_cast<ingot::cuda::Result(*) TYPES>(nullptr)),     \
                #NAME);
  INGOT_CUDA_DRIVER_FUNCTIONS(INGOT_COMPARE)
  INGOT_CUDA_GRAPH_FUNCTIONS(INGOT_COMPARE)
#undef INGOT_COMPARE
  namespace cuda = ingot::cuda;
  static_assert(int(cuda::outOfMemory) == CUDA_ERROR_OUT_OF_MEMORY);
  static_assert(int(cuda::notInitialized) == CUDA_ERROR_NOT_INITIALIZED);
  static_assert(int(cuda::noDevice) == CUDA_ERROR_NO_DEVICE);
  static_assert(int(cuda::invalidImage) == CUDA_ERROR_INVALID_IMAGE);
  static_assert(int(cuda::noBinaryForGpu) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  static_assert(int(cuda::invalidPtx) == CUDA_ERROR_INVALID_PTX);
  static_assert(int(cuda::unsupportedPtxVersion) ==
                CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  static_assert(int(cuda::notFound) == CUDA_ERROR_NOT_FOUND);
  static_assert(int(cuda::notReady) == CUDA_ERROR_NOT_READY);
  static_assert(int(cuda::illegalAddress) == CUDA_ERROR_ILLEGAL_ADDRESS);
  static_assert(int(cuda::launchOutOfResources) ==
                CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  static_assert(int(cuda::launchFailed) == CUDA_ERROR_LAUNCH_FAILED);
  static_assert(int(cuda::maxSharedMemoryPerBlockOptin) ==
                CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  static_assert(int(cuda::computeCapabilityMajor) ==
                CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  static_assert(int(cuda::multiprocessorCount) ==
                CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  static_assert(int(cuda::functionMaxDynamicSharedBytes) ==
                CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  static_assert(int(cuda::functionRegisters) == CU_FUNC_ATTRIBUTE_NUM_REGS);
  static_assert(int(cuda::functionLocalBytes) ==
                CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  static_assert(int(cuda::pointerMemoryType) ==
                CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  static_assert(int(cuda::pointerIsManaged) == CU_POINTER_ATTRIBUTE_IS_MANAGED);
  static_assert(int(cuda::pointerDevice) ==
                CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
  static_assert(int(cuda::illegalState) == CUDA_ERROR_ILLEGAL_STATE);
  static_assert(int(cuda::notSupported) == CUDA_ERROR_NOT_SUPPORTED);
  static_assert(int(cuda::captureUnsupported) ==
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  static_assert(int(cuda::captureInvalidated) ==
                CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  static_assert(int(cuda::captureIsInvalidated) ==
                CU_STREAM_CAPTURE_STATUS_INVALIDATED);
}

TEST(DriverApi, StructsOfGraphs) {
  namespace cuda = ingot::cuda;
  static_assert(sizeof(cuda::KernelNode) == sizeof(CUDA_KERNEL_NODE_PARAMS_v2));
  static_assert(offsetof(cuda::KernelNode, parameters) ==
                offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams));
  static_assert(sizeof(cuda::CopyNode) == sizeof(CUDA_MEMCPY3D));
  static_assert(offsetof(cuda::CopySide, device) ==
                offsetof(CUDA_MEMCPY3D, srcDevice));
  static_assert(offsetof(cuda::CopyNode, target) ==
                offsetof(CUDA_MEMCPY3D, dstXInBytes));
  static_assert(offsetof(cuda::CopyNode, bytes) ==
                offsetof(CUDA_MEMCPY3D, WidthInBytes));
  static_assert(sizeof(cuda::MemsetNode) == sizeof(CUDA_MEMSET_NODE_PARAMS));
  static_assert(offsetof(cuda::MemsetNode, width) ==
                offsetof(CUDA_MEMSET_NODE_PARAMS, width));
}
#else
TEST(DriverApi, AgreesWithTheToolkit) {
  GTEST_SKIP() << "cuda.h is not installed";
}
#endif
