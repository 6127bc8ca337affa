//===- CalibrationFile.cpp - ranges of tensors in a file ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/CalibrationFile.h"

#include "dialects/nn/NodeName.h"
#include "passes/support/Json.h"
#include "passes/support/Rules.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace llvm;
using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Versions of the format. Version 1 has no repairs; files without repairs
/// still have this version. Version 2 could only repair by smoothing norms.
static constexpr int64_t kVersion = 3, kPlainVersion = 1;
static constexpr StringLiteral kVersionKey("ingot_calibration");
static constexpr StringLiteral kPreprocessKey("preprocess");
static constexpr StringLiteral kEqualizeKey("equalize");
static constexpr StringLiteral kChannelsKey("channels");
static constexpr StringLiteral kRoundingKey("adaround");
static constexpr StringLiteral kKeepKey("keep");
static constexpr size_t kDigestDigits = 64;

static Error wrong(const Twine &what) {
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           what);
}

/// The lists of repairs, and their keys.
static std::pair<StringLiteral, std::vector<ChannelValues> Calibration::*>
    kChannelLists[] = {{kChannelsKey, &Calibration::channels},
                       {"biases", &Calibration::biases}};

static void writeRepair(const Calibration &calibration, json::OStream &json) {
  if (calibration.equalize)
    json.attribute(kEqualizeKey, true);
  for (auto [key, list] : kChannelLists) {
    if ((calibration.*list).empty())
      continue;
    json.attributeArray(key, [&, list = list] {
      for (const ChannelValues &channels : calibration.*list)
        json.object([&] {
          json.attribute("name", json::fixUTF8(channels.name));
          json.attributeArray("values", [&] {
            for (float value : channels.values)
              json.value(double(value));
          });
        });
    });
  }
  if (!calibration.rounding.empty())
    json.attributeArray(kRoundingKey, [&] {
      for (const WeightRounding &rounding : calibration.rounding)
        json.object([&] {
          json.attribute("name", json::fixUTF8(rounding.name));
          json.attribute("up", encodeBase64(rounding.up));
        });
    });
  if (!calibration.keep.empty())
    json.attributeArray(kKeepKey, [&] {
      for (const std::string &node : calibration.keep)
        json.value(json::fixUTF8(node));
    });
}

std::string quantize::toText(const Calibration &calibration) {
  std::string text;
  raw_string_ostream out(text);
  // Write the object by hand to keep the order of the keys: the version comes
  // first.
  json::OStream json(out, /*IndentSize=*/2);
  json.object([&] {
    json.attribute(kVersionKey,
                   calibration.isRepaired() ? kVersion : kPlainVersion);
    json.attribute("model", json::fixUTF8(calibration.model));
    json.attribute("model_sha256", calibration.sha256);
    json.attribute("method", calibration.method);
    json.attribute("samples", calibration.samples);
    if (calibration.preprocess)
      json.attribute(kPreprocessKey, *calibration.preprocess);
    json.attributeArray("tensors", [&] {
      for (const TensorCalibration &tensor : calibration.tensors)
        json.object([&] {
          json.attribute("name", json::fixUTF8(tensor.name));
          json.attribute("min", double(tensor.min));
          json.attribute("max", double(tensor.max));
          json.attribute("scale", double(tensor.scale));
          json.attribute("zero_point", tensor.zeroPoint);
          if (!tensor.method.empty())
            json.attribute("method", tensor.method);
        });
    });
    if (calibration.isRepaired())
      json.attributeObject("repair", [&] { writeRepair(calibration, json); });
  });
  out << '\n';
  return text;
}

static std::string shown(float value) {
  std::string text;
  raw_string_ostream(text) << format("%g", value);
  return text;
}

/// Reads `key` of `object` as a finite float.
static Error readNumber(const json::Object &object, StringRef key,
                        float &result) {
  std::optional<double> number = object.getNumber(key);
  if (!number)
    return wrong("has no number \"" + key + "\"");
  result = float(*number);
  if (!std::isfinite(result))
    return wrong("has a \"" + key + "\" that is not finite");
  return Error::success();
}

static Expected<TensorCalibration> readTensor(const json::Object &object) {
  TensorCalibration tensor;
  for (auto [key, value] :
       {std::pair("min", &tensor.min), std::pair("max", &tensor.max),
        std::pair("scale", &tensor.scale)})
    if (Error error = readNumber(object, key, *value))
      return std::move(error);
  if (tensor.min > tensor.max)
    return wrong("has a \"min\" of " + shown(tensor.min) +
                 " above its \"max\" of " + shown(tensor.max));
  if (!std::isnormal(tensor.scale) || tensor.scale < 0)
    return wrong("has a \"scale\" of " + shown(tensor.scale) +
                 ", but it must be a normal number above 0");
  std::optional<int64_t> zeroPoint = object.getInteger("zero_point");
  if (!zeroPoint || *zeroPoint < 0 || *zeroPoint > 255)
    return wrong("has no \"zero_point\" from 0 to 255");
  tensor.zeroPoint = uint8_t(*zeroPoint);
  if (object.get("method") && !object.getString("method"))
    return wrong("has a \"method\" that is not a string");
  tensor.method = object.getString("method").value_or("").str();
  return tensor;
}

static Error isTwice(StringRef key, StringRef name) {
  return wrong("'" + printable(name) + "' of its \"" + key +
               "\" is there twice");
}

static Error readChannels(const json::Object &repair, StringRef key,
                          std::vector<ChannelValues> &list) {
  if (!repair.get(key))
    return Error::success();
  const json::Array *entries = repair.getArray(key);
  if (!entries)
    return wrong("its \"" + key + "\" are not a list");
  llvm::StringSet<> names;
  for (const json::Value &value : *entries) {
    const json::Object *object = value.getAsObject();
    std::optional<StringRef> name =
        object ? object->getString("name") : std::nullopt;
    const json::Array *values = name ? object->getArray("values") : nullptr;
    if (!values)
      return wrong("one of its \"" + key + "\" has no \"name\" and \"values\"");
    if (!names.insert(*name).second)
      return isTwice(key, *name);
    ChannelValues channels = {name->str(), {}};
    for (const json::Value &one : *values) {
      const float number = float(one.getAsNumber().value_or(NAN));
      if (!std::isfinite(number))
        return wrong("'" + printable(*name) + "' of its \"" + key +
                     "\" has a value that is not a finite number");
      if (key == kChannelsKey && number < 0)
        return wrong("'" + printable(*name) + "' of its \"" + key +
                     "\" has a magnitude below 0");
      channels.values.push_back(number);
    }
    list.push_back(std::move(channels));
  }
  return Error::success();
}

static Error readRounding(const json::Object &repair,
                          std::vector<WeightRounding> &list) {
  if (!repair.get(kRoundingKey))
    return Error::success();
  const json::Array *entries = repair.getArray(kRoundingKey);
  if (!entries)
    return wrong("its \"" + kRoundingKey + "\" is not a list");
  llvm::StringSet<> names;
  for (const json::Value &value : *entries) {
    const json::Object *object = value.getAsObject();
    std::optional<StringRef> name =
        object ? object->getString("name") : std::nullopt;
    std::optional<StringRef> up = name ? object->getString("up") : std::nullopt;
    if (!up)
      return wrong("one of its \"" + kRoundingKey +
                   "\" has no \"name\" and \"up\"");
    if (!names.insert(*name).second)
      return isTwice(kRoundingKey, *name);
    WeightRounding rounding = {name->str(), {}};
    if (Error error = decodeBase64(*up, rounding.up))
      return wrong("'" + printable(*name) + "' of its \"" + kRoundingKey +
                   "\" is not base64: " + toString(std::move(error)));
    list.push_back(std::move(rounding));
  }
  return Error::success();
}

static Error readKept(const json::Object &repair,
                      std::vector<std::string> &nodes) {
  if (!repair.get(kKeepKey))
    return Error::success();
  const json::Array *entries = repair.getArray(kKeepKey);
  if (!entries)
    return wrong("its \"" + kKeepKey + "\" is not a list");
  llvm::StringSet<> names;
  for (const json::Value &value : *entries) {
    std::optional<StringRef> name = value.getAsString();
    if (!name || name->empty())
      return wrong("one of its \"" + kKeepKey + "\" is not a node's name");
    if (!names.insert(*name).second)
      return isTwice(kKeepKey, *name);
    nodes.push_back(name->str());
  }
  return Error::success();
}

/// Reads the repairs of a version 3 file.
static Error readRepair(const json::Object &root, Calibration &calibration) {
  const json::Object *repair = root.getObject("repair");
  if (!repair)
    return wrong("it has no object \"repair\"");
  // Report the first unknown key in alphabetical order, so that the message is
  // deterministic.
  StringRef unknown;
  for (const auto &entry : *repair) {
    const StringRef key = entry.first;
    const bool isKnown =
        key == kEqualizeKey || key == kRoundingKey || key == kKeepKey ||
        llvm::any_of(kChannelLists,
                     [&](const auto &list) { return key == list.first; });
    if (!isKnown && (unknown.empty() || key < unknown))
      unknown = key;
  }
  if (!unknown.empty())
    return wrong("its \"repair\" has \"" + printable(unknown) +
                 "\", which no repair is called");
  if (const json::Value *value = repair->get(kEqualizeKey)) {
    if (!value->getAsBoolean())
      return wrong("its \"equalize\" is neither true nor false");
    calibration.equalize = *value->getAsBoolean();
  }
  for (auto [key, list] : kChannelLists)
    if (Error error = readChannels(*repair, key, calibration.*list))
      return error;
  if (Error error = readRounding(*repair, calibration.rounding))
    return error;
  return readKept(*repair, calibration.keep);
}

Expected<Calibration> quantize::parseCalibration(StringRef text) {
  Expected<json::Value> parsed = parseJson(text);
  if (!parsed)
    return wrong(toString(parsed.takeError()));
  const json::Object *root = parsed->getAsObject();
  std::optional<int64_t> version =
      root ? root->getInteger(kVersionKey) : std::nullopt;
  if (!version)
    return wrong("it is not a file of ingot calibrate");
  if (*version != kVersion && *version != kPlainVersion)
    return wrong("it has version " + Twine(*version) +
                 ", but this compiler reads version " + Twine(kPlainVersion) +
                 " and " + Twine(kVersion) + ": calibrate again");
  Calibration calibration;
  for (auto [key, value] : {std::pair("model", &calibration.model),
                            std::pair("model_sha256", &calibration.sha256),
                            std::pair("method", &calibration.method)}) {
    std::optional<StringRef> string = root->getString(key);
    if (!string)
      return wrong("it has no string \"" + Twine(key) + "\"");
    *value = string->str();
  }
  if (calibration.sha256.size() != kDigestDigits ||
      !all_of(calibration.sha256, isHexDigit))
    return wrong("its \"model_sha256\" is not a SHA-256");
  std::optional<int64_t> samples = root->getInteger("samples");
  if (!samples || *samples < 1)
    return wrong("it has no number \"samples\" above 0");
  calibration.samples = uint64_t(*samples);
  if (root->get(kPreprocessKey)) {
    std::optional<StringRef> how = root->getString(kPreprocessKey);
    if (!how)
      return wrong("its \"" + Twine(kPreprocessKey) + "\" is not a string");
    calibration.preprocess = how->str();
  }
  const json::Array *tensors = root->getArray("tensors");
  if (!tensors)
    return wrong("it has no list \"tensors\"");
  if (tensors->empty())
    return wrong("it has ranges of no tensor: calibrate again");
  llvm::StringSet<> names;
  for (const json::Value &value : *tensors) {
    const json::Object *object = value.getAsObject();
    std::optional<StringRef> name =
        object ? object->getString("name") : std::nullopt;
    if (!name)
      return wrong("one of its \"tensors\" has no \"name\"");
    if (!names.insert(*name).second)
      return wrong("tensor '" + printable(*name) + "' is there twice");
    Expected<TensorCalibration> tensor = readTensor(*object);
    if (!tensor)
      return wrong("tensor '" + printable(*name) + "' " +
                   toString(tensor.takeError()));
    tensor->name = name->str();
    calibration.tensors.push_back(std::move(*tensor));
  }
  if (*version == kVersion)
    if (Error error = readRepair(*root, calibration))
      return std::move(error);
  return calibration;
}

Expected<Calibration> quantize::readCalibration(StringRef path) {
  auto cannot = [&](const Twine &why) {
    return wrong("cannot read '" + printable(path) + "': " + why);
  };
  // Reject special files: a pipe may block the compiler, and a device may never
  // end.
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && sys::fs::is_other(status))
    return cannot("it is not a regular file");
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return cannot(file.getError().message());
  Expected<Calibration> read = parseCalibration((*file)->getBuffer());
  if (!read)
    return wrong("'" + printable(path) + "': " + toString(read.takeError()));
  return read;
}
