//===- ChooseKernels.h - chooses the faster kernels -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses between the default backend and another one, from measured times of a
// model with the kernels of each. The functions here do not compile, measure or
// write anything.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_CHOOSEKERNELS_H
#define INGOT_COMPILER_TUNE_CHOOSEKERNELS_H

#include "compiler/pipeline/Pipeline.h"

namespace ingot {

/// Returns the backend that is compared with the default one.
const Backend &otherBackend();

/// The kernels of a model: of the default backend, of the other one, or of
/// both.
enum class Kernels { native, other, mixed };

/// Nodes of the model that an artifact computes as one layer, and their time.
struct LayerTime {
  std::vector<std::string> nodes;
  double ms = 0;
};

/// Nodes that one backend computes together, with the times that decided.
struct LayerChoice {
  std::vector<std::string> nodes;
  double nativeMs = 0, otherMs = 0;
  /// The chosen kernels: native or other.
  Kernels kernels = Kernels::native;
};

/// Compares layers that compute the same nodes. The two backends may fuse nodes
/// differently. Then all layers that are connected by shared nodes are compared
/// together.
std::vector<LayerChoice> chooseForLayers(llvm::ArrayRef<LayerTime> native,
                                         llvm::ArrayRef<LayerTime> other);

/// Compares whole runs, because times of layers do not show how the threads of
/// both backends affect each other. A missing measurement is an infinite time.
Kernels chooseForModel(double nativeMs, double otherMs, double mixedMs);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_CHOOSEKERNELS_H
