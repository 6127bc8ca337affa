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

/// A layer of a model: a part of its run.
struct Layer {
  /// The number of the layer in the model. Layers of all bodies are counted.
  uint32_t number = 0;
  /// The backend of a loop or a branch is "loop" or "branch", because several
  /// backends may compute the layers inside.
  std::string kind, backend, reason, precision;
  /// The sizes of the first operand and of the result, "1x8x8x3 -> 1x8x8x16";
  /// "" if unknown.
  std::string shape;
  std::vector<std::string> nodes;
  /// The module that the exporter recorded for each node; "" if there is none.
  std::vector<std::string> scopes;
  uint64_t flops = 0, bytes = 0;
  /// The field usual_of of ingot_layer_info.
  uint32_t usualOf = 0;
  /// True if no kernel computes the layer, although it has much of the
  /// arithmetic.
  bool isInLoop = false;

  /// Returns the kind of layer. Appends the type of the products unless it is
  /// f32: "matmul, int8".
  std::string description() const;
  /// Returns the names of all nodes, in trtexec's form for fused layers.
  /// Without nodes, returns the kind.
  std::string name() const;
  /// Returns the names of the exporter's modules. A node without a known module
  /// is named itself.
  std::string shownName() const;
};

std::vector<Layer> layersOf(const ingot_model *model);

} // namespace ingot::tools

#endif // INGOT_CLIENT_LAYERS_H
