//===- Inspection.h - what an artifact tells --------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INSPECT_INSPECTION_H
#define INGOT_CLIENT_INSPECT_INSPECTION_H

#include "client/Handles.h"
#include "client/Json.h"
#include "client/inspect/GpuCode.h"
#include "client/inspect/Inferred.h"

#include <optional>
#include <string>

namespace ingot::tools {

struct InspectOptions {
  std::string model, weights;
  /// True to compare all files of the model with their checksums.
  bool verify = false;
  /// Sizes of inputs. If any is given, the sizes of the outputs are inferred.
  InputSpecs sizes;
};

/// A compiled model and its description.
struct Inspection {
  ModelHandle model;
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  bool isVerified = false;
  /// The code for GPUs, if there is any.
  std::optional<GpuCode> gpu;
  /// The sizes of a run, if sizes of inputs were given.
  std::optional<Inferred> inferred;
};

/// Reads a model as the options say. Returns an error message, or "".
std::string inspectModel(const InspectOptions &options, Inspection &inspection);

/// Returns the lines for people, with a table of the layers if `withLayers`.
std::string textOf(const Inspection &inspection, bool withLayers);
/// Returns the members of the JSON document.
Json toJson(const Inspection &inspection);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INSPECT_INSPECTION_H
