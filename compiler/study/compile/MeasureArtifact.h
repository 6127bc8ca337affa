//===- MeasureArtifact.h - times for the compiler's choices -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPILE_MEASUREARTIFACT_H
#define INGOT_COMPILER_STUDY_COMPILE_MEASUREARTIFACT_H

#include "compiler/tune/TuneKernels.h"

namespace ingot::study {

/// Runs an artifact on this machine for some tenths of a second, on all CPUs,
/// like `ingot bench`. Returns an error message, or "".
std::string measureArtifact(llvm::StringRef artifact, bool withLayers,
                            ArtifactTimes &times);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPILE_MEASUREARTIFACT_H
