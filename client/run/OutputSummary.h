//===- OutputSummary.h - what a run made ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_RUN_OUTPUTSUMMARY_H
#define INGOT_CLIENT_RUN_OUTPUTSUMMARY_H

#include "client/Json.h"
#include "client/Npy.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// The summary of the outputs as text or JSON. It is made before the outputs
/// are written, because it needs memory.
struct OutputSummary {
  std::string table;
  std::vector<std::string> warnings;
  Json outputs = Json::array();
};

/// Describes the outputs of a run.
OutputSummary summarizeOutputs(const std::vector<std::string> &names,
                               const std::vector<Array> &outputs);

} // namespace ingot::tools

#endif // INGOT_CLIENT_RUN_OUTPUTSUMMARY_H
