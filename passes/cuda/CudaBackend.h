//===- CudaBackend.h - the backend of NVIDIA GPUs ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_CUDABACKEND_H
#define INGOT_PASSES_CUDA_CUDABACKEND_H

#include "passes/backend/Backend.h"

namespace ingot::cuda {

const Backend &getBackend();

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_CUDABACKEND_H
