//===- ArtifactPrecision.h - how an artifact was quantized ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPARE_ARTIFACTPRECISION_H
#define INGOT_COMPILER_STUDY_COMPARE_ARTIFACTPRECISION_H

#include "client/Handles.h"
#include "compiler/pipeline/Pipeline.h"

#include "llvm/Support/Error.h"

namespace ingot::study {

/// Sets the precision, the rules and the calibration that an artifact was
/// compiled with. They are recorded in its metadata, the calibration by name
/// and SHA-256. The file is searched beside the artifact, beside the model, and
/// in the current folder.
llvm::Error readArtifactPrecision(const ingot_model *loaded,
                                  const std::string &artifact,
                                  const std::string &model,
                                  PipelineOptions &pipeline);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPARE_ARTIFACTPRECISION_H
