//===- Images.h - loading GPU code through the driver -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_GPU_RUNNER_IMAGES_H
#define INGOT_TOOLS_GPU_RUNNER_IMAGES_H

#include "tools/gpu-runner/Gpu.h"

namespace ingot::gpu {

/// Loads an image, an object of a list.
///
///     name, group   texts for the report
///     file          PTX or a cubin, relative to `folder`
///     kind          "ptx" or "cubin"
///     level         compute capability, e.g. 90
///     kernels       names of its kernels
///
/// The row has the time of the load, the most registers of a kernel, and the
/// bytes of local memory, which spills would need.
Json loadImage(const Json &item, const std::string &folder);

} // namespace ingot::gpu

#endif // INGOT_TOOLS_GPU_RUNNER_IMAGES_H
