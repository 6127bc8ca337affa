//===- ArtifactPrecision.h - how an artifact was quantized ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_CALIBRATE_ARTIFACTPRECISION_H
#define INGOT_TOOLS_INGOT_CALIBRATE_ARTIFACTPRECISION_H

#include "compiler/pipeline/Pipeline.h"
#include "tools/ingot/Handles.h"

namespace ingot::tools {

/// Sets the precision, the rules and the calibration that an artifact was
/// compiled with, as recorded in its metadata. The metadata give the
/// calibration's name and SHA-256. The file is searched beside the artifact,
/// beside the model, and in the current folder. Returns an error message, or
/// "".
std::string readArtifactPrecision(const ingot_model *loaded,
                                  const std::string &artifact,
                                  const std::string &model,
                                  PipelineOptions &pipeline);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_CALIBRATE_ARTIFACTPRECISION_H
