//===- Layers.h - the layers of a compiled model ----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_LAYERS_H
#define INGOT_CLIENT_LAYERS_H

#include "ingot/ingot.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// A layer of a model: a piece of its run.
struct Layer {
  /// The model's number of the layer, counted over all bodies.
  uint32_t number = 0;
  /// `backend` of a loop or a branch is "loop" or "branch", since several
  /// backends may compute the layers inside.
  std::string kind, backend, reason, precision;
  /// The sizes of the first operand and of the result, "1x8x8x3 -> 1x8x8x16";
  /// "" if not known.
  std::string shape;
  std::vector<std::string> nodes;
  /// For each node, the module that the exporter noted; "" if none.
  std::vector<std::string> scopes;
  uint64_t flops = 0, bytes = 0;
  /// The value of ingot_layer_info.
  uint32_t usualOf = 0;
  /// True if no kernel computes the layer although it has much of the
  /// arithmetic.
  bool isInLoop = false;

  /// Returns the kind and, unless it is f32, the type of the products: "matmul,
  /// int8".
  std::string description() const;
  /// Returns the names of all nodes, as trtexec names fused layers. Without
  /// nodes, returns the kind.
  std::string name() const;
  /// Returns the names of all nodes, or of the exporter's modules if known.
  std::string shownName() const;
};

std::vector<Layer> layersOf(const ingot_model *model);

} // namespace ingot::tools

#endif // INGOT_CLIENT_LAYERS_H
