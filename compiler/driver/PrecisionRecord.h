//===- PrecisionRecord.h - how an artifact was quantized --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_PRECISIONRECORD_H
#define INGOT_COMPILER_DRIVER_PRECISIONRECORD_H

#include "compiler/pipeline/Pipeline.h"

#include "llvm/Support/Error.h"

namespace ingot {

/// Returns the commit of the compiler's source, or "" if the build had none.
llvm::StringRef compilerCommit();

/// Returns a JSON object in one line. It names a calibration without folders,
/// and has its SHA-256.
llvm::Expected<std::string> recordPrecision(const PipelineOptions &options);

/// What such an object says.
struct PrecisionRecord {
  /// As `--precision` has it.
  std::string name;
  /// Empty: none.
  std::string calibration, calibrationSha256;
  /// What the pipeline has but for the calibration, whose file has to be found.
  PipelineOptions pipeline;

  static llvm::Expected<PrecisionRecord> parse(llvm::StringRef text);
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_PRECISIONRECORD_H
