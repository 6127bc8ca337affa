//===- ChooseKernels.h - chooses the faster kernels -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses between the default backend and another backend, based on measured
// times of a model with the kernels of each. The functions here do not compile,
// measure or write anything.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_CHOOSEKERNELS_H
#define INGOT_COMPILER_TUNE_CHOOSEKERNELS_H

#include "compiler/pipeline/Pipeline.h"

namespace ingot {

/// Returns the backend that is compared with the default one.
const Backend &otherBackend();

/// The kernels of a model: those of the default backend, those of the other
/// backend, or both.
enum class Kernels { native, other, mixed };

/// Nodes of the model that an artifact computes as one layer, and their time.
struct LayerTime {
  std::vector<std::string> nodes;
  double ms = 0;
};

/// Nodes that one backend computes together, and the times that led to the
/// choice.
struct LayerChoice {
  std::vector<std::string> nodes;
  double nativeMs = 0, otherMs = 0;
  /// The chosen backend: native or other.
  Kernels kernels = Kernels::native;
};

/// Compares layers that compute the same nodes. The backends may fuse nodes
/// differently. In this case, all layers that share nodes directly or
/// indirectly are compared as a group.
std::vector<LayerChoice> chooseForLayers(llvm::ArrayRef<LayerTime> native,
                                         llvm::ArrayRef<LayerTime> other);

/// Compares the times of whole runs. They include effects between the threads
/// of both backends, which times of layers do not show. A missing measurement
/// is an infinite time.
Kernels chooseForModel(double nativeMs, double otherMs, double mixedMs);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_CHOOSEKERNELS_H
