//===- ArtifactPrecision.cpp - how an artifact was quantized --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/ArtifactPrecision.h"

#include "client/MetadataKeys.h"
#include "compiler/driver/PrecisionRecord.h"
#include "compiler/quantize/ModelHash.h"
#include "compiler/study/runs/Client.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/Support/Path.h"

using namespace ingot;
using namespace ingot::study;
namespace path = llvm::sys::path;

static std::string quoted(const std::string &name) {
  return "'" + formatLine(name, 200) + "'";
}

/// Returns the path of the calibration, or "".
static std::string findCalibration(const PrecisionRecord &record,
                                   const std::string &artifact,
                                   const std::string &model) {
  const llvm::StringRef name = path::filename(record.calibration);
  for (llvm::StringRef folder : {path::parent_path(artifact),
                                 path::parent_path(model), llvm::StringRef()}) {
    llvm::SmallString<128> at(folder);
    path::append(at, name);
    std::string sha256;
    if (quantize::hashModel(at.str().str(), {}, sha256).empty() &&
        sha256 == record.calibrationSha256)
      return at.str().str();
  }
  return "";
}

llvm::Error ingot::study::readArtifactPrecision(const ingot_model *loaded,
                                                const std::string &artifact,
                                                const std::string &model,
                                                PipelineOptions &pipeline) {
  const std::string name = quoted(artifact);
  const std::string metadata =
      " metadata '" + std::string(tools::metadatakey::precision) + "'";
  const char *text =
      ingot_model_metadata_find(loaded, tools::metadatakey::precision);
  if (!text)
    return makeError(name + " has no" + metadata + ": compile it again");
  llvm::Expected<PrecisionRecord> record = PrecisionRecord::parse(text);
  if (!record)
    return makeError(name + " has" + metadata + " that cannot be read: " +
                     formatLine(llvm::toString(record.takeError()), 200));
  if (record->name == "fp32" && tools::precisionOf(loaded) == "fp32")
    return makeError(name + " is in fp32, which has no error");
  if (record->name == "fp32")
    return makeError(
        name +
        " has the quantization of its model, not one by ingot compile: to tell "
        "layers apart, calibrate the model in fp32 and give "
        "--calibration=FILE");
  pipeline = record->pipeline;
  if (record->calibration.empty())
    return llvm::Error::success();
  pipeline.calibration = findCalibration(*record, artifact, model);
  if (!pipeline.calibration.empty())
    return llvm::Error::success();
  return makeError(
      name + " was compiled with the calibration " +
      quoted(record->calibration) +
      ", which is not beside it, beside the model, or in the current folder: "
      "give --calibration=FILE (--precision=auto without one leaves no file)");
}
