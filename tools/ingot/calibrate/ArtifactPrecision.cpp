//===- ArtifactPrecision.cpp - how an artifact was quantized --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/calibrate/ArtifactPrecision.h"

#include "compiler/driver/PrecisionRecord.h"
#include "compiler/quantize/ModelHash.h"
#include "tools/ingot/MetadataKeys.h"
#include "tools/ingot/Text.h"

#include "llvm/Support/Path.h"

using namespace ingot;
using namespace ingot::tools;
namespace path = llvm::sys::path;

static std::string quoted(const std::string &name) {
  return "'" + formatLine(name, 200) + "'";
}

/// Returns the path of the calibration, or "".
static std::string findCalibration(const PrecisionRecord &record,
                                   const std::string &artifact,
                                   const std::string &model) {
  const llvm::StringRef name = path::filename(record.calibration);
  for (llvm::StringRef folder :
       {path::parent_path(artifact), path::parent_path(model),
        llvm::StringRef()}) {
    llvm::SmallString<128> at(folder);
    path::append(at, name);
    std::string sha256;
    if (quantize::hashModel(at.str().str(), {}, sha256).empty() &&
        sha256 == record.calibrationSha256)
      return at.str().str();
  }
  return "";
}

std::string ingot::tools::readArtifactPrecision(const ingot_model *loaded,
                                                const std::string &artifact,
                                                const std::string &model,
                                                PipelineOptions &pipeline) {
  const char *text = ingot_model_metadata_find(loaded, metadatakey::precision);
  if (!text)
    return quoted(artifact) + " has no metadata '" + metadatakey::precision +
           "': compile it again";
  llvm::Expected<PrecisionRecord> record = PrecisionRecord::parse(text);
  if (!record)
    return quoted(artifact) + " has metadata '" + metadatakey::precision +
           "' that cannot be read: " +
           formatLine(llvm::toString(record.takeError()), 200);
  if (record->name == "fp32" && precisionOf(loaded) == "fp32")
    return quoted(artifact) + " is of fp32, which has no error to tell of";
  if (record->name == "fp32")
    return quoted(artifact) +
           " is not quantized by ingot compile, but by the model that it was "
           "compiled of: to tell layers apart, calibrate the model in fp32 and "
           "give --calibration=FILE";
  pipeline = record->pipeline;
  if (record->calibration.empty())
    return "";
  pipeline.calibration = findCalibration(*record, artifact, model);
  if (!pipeline.calibration.empty())
    return "";
  return quoted(artifact) + " was compiled with the calibration " +
         quoted(record->calibration) +
         ", which, as it was, is not beside it, beside the model, or in the "
         "current folder: give --calibration=FILE (--precision=auto that has "
         "to find ranges itself leaves none behind)";
}
