//===- Layers.h - the layers of a compiled model ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_LAYERS_H
#define INGOT_TOOLS_INGOT_LAYERS_H

#include "ingot/ingot.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// A layer of a model: a piece of its run.
struct Layer {
  /// As the model counts them, of all bodies.
  uint32_t number = 0;
  /// `backend` of a loop or a branch is "loop" or "branch": several backends
  /// may compute what is in it.
  std::string kind, backend, reason, precision;
  /// Sizes of its first operand and of its result, "1x8x8x3 -> 1x8x8x16"; ""
  /// if not known.
  std::string shape;
  std::vector<std::string> nodes;
  /// For each node the module that the exporter notes, "" if none.
  std::vector<std::string> scopes;
  uint64_t flops = 0, bytes = 0;
  /// As in ingot_layer_info.
  uint32_t usualOf = 0;
  /// Set if no kernel computes it, though much of the arithmetic is there.
  bool isInLoop = false;

  /// Kind and, unless it is f32, what it multiplies: "matmul, int8".
  std::string description() const;
  /// Names of all nodes, as trtexec names fused layers; without nodes the kind.
  std::string name() const;
  /// Names of all nodes, or of the exporter's modules where nodes have one.
  std::string shownName() const;
};

std::vector<Layer> layersOf(const ingot_model *model);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_LAYERS_H
