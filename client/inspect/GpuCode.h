//===- GpuCode.h - an artifact's code for GPUs ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INSPECT_GPUCODE_H
#define INGOT_CLIENT_INSPECT_GPUCODE_H

#include "client/Json.h"
#include "client/Text.h"
#include "ingot/ingot.h"

#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// Code of all kernels for one kind of GPU.
struct GpuImage {
  /// "cubin" or "ptx".
  std::string kind;
  /// Compute capability, 10 * major + minor.
  uint64_t level, bytes;
  /// The version of ptxas that made a cubin; "" if unknown.
  std::string ptxas;
};

/// The registers and the memory of a kernel in one cubin.
struct GpuResources {
  uint64_t level, registers, staticSharedBytes, stackBytes, spillBytes;
};

struct GpuKernel {
  std::string name, node;
  /// Threads of a block, bytes of its dynamic shared memory.
  uint64_t threads, sharedBytes;
  /// Places in the host code that launch the kernel.
  uint64_t launches;
  /// Estimated time of a launch; 0 if there is no estimate.
  uint64_t predictedNanoseconds;
  std::vector<GpuResources> code;
};

/// A node that the CPU computes between copies.
struct GpuHostNode {
  std::string node, reason;
  uint64_t buffers;
};

/// The description of an artifact's code for GPUs, which its compiler recorded.
struct GpuCode {
  std::vector<GpuImage> images;
  std::vector<GpuKernel> kernels;
  std::vector<GpuHostNode> hostNodes;
  /// Memory of the GPU for weights, and for the intermediate results of a run.
  uint64_t weightsBytes, arenaBytes;

  /// Returns the sum over all launches. A loop counts once.
  uint64_t predictedNanoseconds() const;
};

/// Parses the text that a compiler recorded, which may come from anywhere.
/// Returns nothing if it is malformed.
std::optional<GpuCode> parseGpuCode(const std::string &text);

/// Reads the description from the metadata. Leaves `code` empty if there is
/// none. Returns an error message, or "".
std::string readGpuCode(const ingot_model *model, std::optional<GpuCode> &code);

/// Appends lines about images, kernels and nodes.
void addGpuCode(TextBuilder &text, const GpuCode &code);
/// Appends a table of the kernels.
void addGpuKernels(TextBuilder &text, const GpuCode &code);
Json toJson(const GpuCode &code);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INSPECT_GPUCODE_H
