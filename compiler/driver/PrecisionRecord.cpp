//===- PrecisionRecord.cpp - how an artifact was quantized ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/PrecisionRecord.h"

#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/ModelHash.h"
#include "dialects/nn/NodeName.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace ingot;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

namespace key {
constexpr llvm::StringLiteral precision = "precision",
                              calibration = "calibration",
                              sha256 = "calibration_sha256", keep = "keep",
                              keepFromInt8 = "keep_from_int8",
                              weightBits = "weight_bits",
                              fitPairs = "fit_pairs";
} // namespace key

} // namespace

llvm::Expected<std::string>
ingot::recordPrecision(const PipelineOptions &options) {
  const std::string name = precisionName(options);
  json::Object object{{key::precision, name}};
  auto print = [&] {
    return llvm::formatv("{0}", json::Value(std::move(object))).str();
  };
  if (name == "fp32")
    return print();
  if (!options.calibration.empty()) {
    std::string sha256;
    if (std::string problem =
            quantize::hashModel(options.calibration, {}, sha256);
        !problem.empty())
      return llvm::createStringError("cannot read '" +
                                     printable(options.calibration) +
                                     "': " + problem);
    object[key::calibration] =
        json::fixUTF8(llvm::sys::path::filename(options.calibration));
    object[key::sha256] = sha256;
  }
  auto add = [&](StringRef name, const std::vector<std::string> &rules) {
    if (rules.empty())
      return;
    json::Array array;
    for (const std::string &rule : rules)
      array.push_back(json::fixUTF8(rule));
    object[name] = std::move(array);
  };
  add(key::keep, options.keep);
  add(key::keepFromInt8, options.keepFromInt8);
  if (options.int8Weights == quantize::Int8Weights::seven)
    object[key::weightBits] = quantize::bitsOf(options.int8Weights);
  if (options.int8Weights == quantize::Int8Weights::fitted)
    object[key::fitPairs] = true;
  return print();
}

llvm::Expected<PrecisionRecord> PrecisionRecord::parse(StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  PrecisionRecord record;
  const json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError("it is not a JSON object");
  record.name = object->getString(key::precision).value_or("").str();
  if (!setPrecision(record.name, record.pipeline))
    return llvm::createStringError("there is no precision '" +
                                   printable(record.name) + "'");
  record.calibration = object->getString(key::calibration).value_or("").str();
  record.calibrationSha256 = object->getString(key::sha256).value_or("").str();
  auto read = [&](StringRef name, std::vector<std::string> &rules) {
    const json::Array *array = object->getArray(name);
    if (!array)
      return;
    for (const json::Value &rule : *array)
      rules.push_back(rule.getAsString().value_or("").str());
  };
  read(key::keep, record.pipeline.keep);
  read(key::keepFromInt8, record.pipeline.keepFromInt8);
  if (object->getInteger(key::weightBits) == 7)
    record.pipeline.int8Weights = quantize::Int8Weights::seven;
  else if (object->getBoolean(key::fitPairs).value_or(false))
    record.pipeline.int8Weights = quantize::Int8Weights::fitted;
  return record;
}
