//===- ChooseKernels.h - whose kernels are faster ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses between the default backend and another one, from times of a model
// with the kernels of each. Nothing is compiled, measured or written here.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_TUNE_CHOOSEKERNELS_H
#define INGOT_COMPILER_TUNE_CHOOSEKERNELS_H

#include "compiler/pipeline/Pipeline.h"

namespace ingot {

/// The backend that is compared with the default one.
const Backend &otherBackend();

/// The kernels that a model has: of the default backend, of the other one, or
/// of both.
enum class Kernels { native, other, mixed };

/// Nodes of the model that an artifact computes in one piece, and their time.
struct LayerTime {
  std::vector<std::string> nodes;
  double ms = 0;
};

/// Nodes that are given to one or the other together, and why.
struct LayerChoice {
  std::vector<std::string> nodes;
  double nativeMs = 0, otherMs = 0;
  /// Native or other.
  Kernels kernels = Kernels::native;
};

/// Compares layers that compute the same nodes. Fused differently, layers of
/// the two have other nodes in common: all that are connected are compared
/// together.
std::vector<LayerChoice> chooseForLayers(llvm::ArrayRef<LayerTime> native,
                                         llvm::ArrayRef<LayerTime> other);

/// Compares whole runs. Layers by themselves do not tell what two kinds of
/// threads do to each other. What was not measured took infinitely long.
Kernels chooseForModel(double nativeMs, double otherMs, double mixedMs);

} // namespace ingot

#endif // INGOT_COMPILER_TUNE_CHOOSEKERNELS_H
