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

/// Returns the precision as a JSON object in one line. The object names a
/// calibration by its file name without folders and its SHA-256.
llvm::Expected<std::string> recordPrecision(const PipelineOptions &options);

/// The contents of such a JSON object.
struct PrecisionRecord {
  /// The name in `--precision`.
  std::string name;
  /// The calibration's file name and SHA-256; empty if there is none.
  std::string calibration, calibrationSha256;
  /// The options of the pipeline, without the path of the calibration. The
  /// caller must find that file.
  PipelineOptions pipeline;

  static llvm::Expected<PrecisionRecord> parse(llvm::StringRef text);
};

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_PRECISIONRECORD_H
