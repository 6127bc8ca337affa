//===- Inputs.cpp - inputs of a run, as options give them -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Inputs.h"

#include "client/MetadataKeys.h"
#include "client/Parse.h"
#include "client/ShapeProfiles.h"
#include "client/SizeText.h"
#include "client/Text.h"
#include "client/inputs/Npz.h"
#include "client/inputs/Request.h"

#include <algorithm>

using namespace ingot::tools;

//===----------------------------------------------------------------------===//
// Preprocessing
//===----------------------------------------------------------------------===//

/// Reads the preprocessing that the artifact records from its calibration.
/// Returns false if there is none.
static bool readRecord(const ingot_model *model, Preprocess &recorded) {
  const char *text = ingot_model_metadata_find(model, metadatakey::preprocess);
  // An empty text records the defaults.
  return text && (!*text || recorded.parse(text).empty());
}

Preprocess ingot::tools::preprocessOf(const ingot_model *model,
                                      const Preprocess &given) {
  Preprocess recorded;
  return !given.isGiven && readRecord(model, recorded) ? recorded : given;
}

std::string ingot::tools::preprocessWarning(const ingot_model *model,
                                            const Preprocess &given) {
  Preprocess recorded;
  if (!given.isGiven || !readRecord(model, recorded) ||
      recorded.text() == given.text())
    return "";
  return "the model was calibrated with --preprocess=" +
         formatLine(recorded.text(), 200) + ", not " +
         formatLine(given.text(), 200);
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

std::string Request::describe() const {
  return "input '" + formatLine(info.name, 120) + "' (" +
         ingot_dtype_name(info.dtype) + " " +
         formatShape(info.dims, info.rank, info.dim_names) + ")";
}

std::vector<int64_t> Request::givenSizes() const {
  if (shape)
    return *shape;
  std::vector<int64_t> sizes(info.dims, info.dims + info.rank);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] == INGOT_ABI_DYNAMIC)
      sizes[i] = namedSizes[i];
  return sizes;
}

std::optional<std::vector<int64_t>> Request::knownShape() const {
  std::vector<int64_t> sizes = givenSizes();
  auto isOpen = [](int64_t size) { return size < 0; };
  if (std::none_of(sizes.begin(), sizes.end(), isOpen))
    return sizes;
  auto usual = usualShape(model, number);
  if (!usual)
    return std::nullopt;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (isOpen(sizes[i]))
      sizes[i] = (*usual)[i];
  return sizes;
}

std::string ingot::tools::askForShape(const Request &request) {
  std::string example = request.info.name;
  example += "=";
  for (uint32_t i = 0; i < request.info.rank; ++i)
    example +=
        (i ? "x" : "") +
        std::to_string(request.info.dims[i] < 0 ? 1 : request.info.dims[i]);
  return request.describe() + " has sizes that only you know; add --shape " +
         example;
}

std::string ingot::tools::checkFixedSizes(const Request &request,
                                          const std::vector<int64_t> &shape,
                                          const std::string &origin) {
  bool fits = shape.size() == request.info.rank, fitsNamed = true;
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const int64_t fixed = request.info.dims[i], named = request.namedSizes[i];
    fits = fixed == INGOT_ABI_DYNAMIC || fixed == shape[i];
    fitsNamed &= named == INGOT_ABI_DYNAMIC || named == shape[i];
  }
  if (fits && fitsNamed)
    return "";
  return request.describe() + " cannot have the shape " +
         formatShape(shape.data(), shape.size()) + " of " + origin +
         (fits ? ": --dim says otherwise" : "");
}

bool ingot::tools::parseRandom(const std::string &source, uint64_t &seed) {
  seed = 0;
  if (source == "random")
    return true;
  long long value;
  if (source.rfind("random:", 0) != 0 || !parseNumber(source.substr(7), value))
    return false;
  seed = uint64_t(value);
  return true;
}

/// Makes a request for each input, without options.
static std::vector<Request> makeRequests(const ingot_model *model,
                                         const InputSpecs &specs) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<Request> requests(info.num_inputs);
  for (uint32_t i = 0; i < info.num_inputs; ++i) {
    Request &request = requests[i];
    request.specs = &specs;
    request.model = model;
    request.number = i;
    ingot_model_input_describe(model, i, &request.info, nullptr);
    request.namedSizes.assign(request.info.rank, INGOT_ABI_DYNAMIC);
  }
  return requests;
}

static std::string listNames(const std::vector<Request> &requests) {
  std::string names;
  for (const Request &request : requests)
    names +=
        (names.empty() ? "'" : ", '") + formatLine(request.info.name, 80) + "'";
  return names.empty() ? "none" : names;
}

//===----------------------------------------------------------------------===//
// --input
//===----------------------------------------------------------------------===//

/// Splits `NAME=SOURCE` after the name of an input. Names and files may contain
/// `=`, so uses the longest name that matches. Returns null if no name matches.
static Request *matchName(std::vector<Request> &requests,
                          const std::string &spec, std::string &rest) {
  Request *found = nullptr;
  size_t length = 0;
  for (Request &request : requests) {
    std::string name = request.info.name;
    if (name.size() < length || spec.size() <= name.size() ||
        spec.compare(0, name.size(), name) != 0 || spec[name.size()] != '=')
      continue;
    found = &request;
    length = name.size();
    rest = spec.substr(length + 1);
  }
  return found;
}

/// Finds the array in an .npz file for each input that has no source.
static std::string shareArrays(std::vector<Request> &requests,
                               const std::string &path) {
  ZipFile file;
  if (std::string problem = file.open(path); !problem.empty())
    return "cannot read '" + path + "': " + problem;
  bool isUsed = false;
  for (Request &request : requests) {
    if (!request.source.empty() ||
        !findArray(file, request.info.name, requests.size() == 1))
      continue;
    request.source = path;
    isUsed = true;
  }
  if (isUsed)
    return "";
  return "'" + path + "' has no array for an input: " + listArrays(file) +
         ", but the model's inputs are " + listNames(requests);
}

static std::string readUnnamed(std::vector<Request> &requests,
                               const std::string &spec) {
  uint64_t seed;
  if (parseRandom(spec, seed) || spec == "zeros") {
    for (Request &request : requests)
      if (request.source.empty())
        request.source = spec;
    return "";
  }
  if (spec.rfind("random:", 0) == 0)
    return "--input " + spec + ": the seed must be a whole number";
  if (size_t equals = spec.find('='); equals != std::string::npos)
    return "the model has no input '" + spec.substr(0, equals) +
           "'; its inputs are " + listNames(requests);
  if (requests.size() != 1)
    return "--input " + spec + " must say which input it is for, NAME=" + spec +
           "; the model's inputs are " + listNames(requests);
  if (!requests[0].source.empty())
    return requests[0].describe() + " is given twice";
  requests[0].source = spec;
  return "";
}

static std::string readInputSpec(std::vector<Request> &requests,
                                 const std::string &spec) {
  std::string source;
  Request *request = matchName(requests, spec, source);
  if (!request)
    return endsWith(spec, ".npz") && spec.find('=') == std::string::npos
               ? shareArrays(requests, spec)
               : readUnnamed(requests, spec);
  if (!request->source.empty())
    return request->describe() + " is given twice";
  if (source.empty())
    return "--input " + spec +
           " names no file; give NAME=FILE, NAME=random[:SEED] or NAME=zeros";
  request->source = source;
  return "";
}

/// Returns the sort key of a spec. Named inputs come first. `random` comes
/// last, because it fills all other inputs.
static int orderOf(std::vector<Request> &requests, const std::string &spec) {
  std::string rest;
  return matchName(requests, spec, rest) ? 0 : endsWith(spec, ".npz") ? 1 : 2;
}

/// Returns a message if two specs give different values to all other inputs.
static std::string checkFill(std::vector<Request> &requests,
                             const InputSpecs &specs) {
  const std::string *first = nullptr;
  uint64_t seed;
  std::string rest;
  for (const std::string &spec : specs.inputs) {
    if (matchName(requests, spec, rest) ||
        !(spec == "zeros" || parseRandom(spec, seed)))
      continue;
    if (first && *first != spec)
      return "--input " + *first + " and --input " + spec +
             " are both for all other inputs: leave one of them out";
    first = &spec;
  }
  return "";
}

static std::string readInputSpecs(std::vector<Request> &requests,
                                  const InputSpecs &specs) {
  if (std::string problem = checkFill(requests, specs); !problem.empty())
    return problem;
  for (int order : {0, 1, 2})
    for (const std::string &spec : specs.inputs)
      if (orderOf(requests, spec) == order)
        if (std::string problem = readInputSpec(requests, spec);
            !problem.empty())
          return problem;
  return "";
}

//===----------------------------------------------------------------------===//
// --shape and --dim
//===----------------------------------------------------------------------===//

static std::string readShapeSpec(std::vector<Request> &requests,
                                 const std::string &spec) {
  std::string name, text;
  auto request = requests.end();
  if (splitNameAndValue(spec, name, text))
    request =
        std::find_if(requests.begin(), requests.end(),
                     [&](const Request &one) { return one.info.name == name; });
  if (request == requests.end())
    return "--shape " + spec +
           " names no input of the model; give NAME=AxB..., where NAME is one "
           "of " +
           listNames(requests);
  std::vector<SizeText> sizes;
  std::string problem;
  bool isShape = parseSizesText(text, sizes, problem);
  for (const SizeText &size : sizes)
    isShape &= size.kind == SizeText::fixed;
  if (!isShape)
    return "--shape " + spec + ": '" + text + "' is no shape; " +
           (problem.empty() ? "write sizes with x between them, e.g. 1x3x48x320"
                            : problem);
  if (request->shape)
    return "--shape for input '" + formatLine(name, 120) + "' is given twice";
  request->shape.emplace();
  for (const SizeText &size : sizes)
    request->shape->push_back(size.usual);
  return "";
}

static std::string listDims(const std::vector<Request> &requests) {
  std::vector<std::string> names;
  for (const Request &request : requests)
    for (uint32_t i = 0; i < request.info.rank; ++i)
      if (std::string name = request.info.dim_names[i];
          !name.empty() && request.info.dims[i] == INGOT_ABI_DYNAMIC)
        names.push_back("'" + formatLine(name, 80) + "'");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "it has none" : "its open dimensions are " + text;
}

static std::string readDimSpec(std::vector<Request> &requests,
                               const std::string &spec) {
  std::string name, text, problem;
  SizeText size;
  if (!splitNameAndValue(spec, name, text) ||
      !parseSizeText(text, size, problem) || size.kind != SizeText::fixed)
    return "--dim " + spec + " cannot be read: " +
           (problem.empty() ? "write it as --dim batch=1" : problem);
  bool isKnown = false;
  for (Request &request : requests)
    for (uint32_t i = 0; i < request.info.rank; ++i) {
      if (name != request.info.dim_names[i] ||
          request.info.dims[i] != INGOT_ABI_DYNAMIC)
        continue;
      if (request.namedSizes[i] != INGOT_ABI_DYNAMIC)
        return "--dim is given twice for '" + formatLine(name, 120) + "'";
      request.namedSizes[i] = size.usual;
      isKnown = true;
    }
  return isKnown ? ""
                 : "the model has no open dimension '" + formatLine(name, 120) +
                       "'; " + listDims(requests);
}

void ingot::tools::eraseFixedDims(const ingot_model *model, InputSpecs &specs) {
  const std::vector<Request> requests = makeRequests(model, specs);
  auto isFixed = [&](const std::string &spec) {
    const std::string name = spec.substr(0, spec.rfind('='));
    for (const Request &request : requests)
      for (uint32_t i = 0; i < request.info.rank; ++i)
        if (name == request.info.dim_names[i] &&
            request.info.dims[i] == INGOT_ABI_DYNAMIC)
          return false;
    return true;
  };
  specs.dims.erase(
      std::remove_if(specs.dims.begin(), specs.dims.end(), isFixed),
      specs.dims.end());
}

static std::string readShapeSpecs(std::vector<Request> &requests,
                                  const InputSpecs &specs) {
  std::string problem;
  for (const std::string &spec : specs.shapes)
    if (problem = readShapeSpec(requests, spec); !problem.empty())
      return problem;
  for (const std::string &spec : specs.dims)
    if (problem = readDimSpec(requests, spec); !problem.empty())
      return problem;
  for (const Request &request : requests)
    if (request.shape)
      if (problem = checkFixedSizes(request, *request.shape, "--shape");
          !problem.empty())
        return problem;
  return "";
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

std::string
ingot::tools::makeShapes(const ingot_model *model, const InputSpecs &specs,
                         std::vector<std::vector<int64_t>> &shapes) {
  std::vector<Request> requests = makeRequests(model, specs);
  std::string problem = readShapeSpecs(requests, specs);
  if (!problem.empty())
    return problem;
  for (const Request &request : requests) {
    auto shape = request.knownShape();
    if (!shape)
      return askForShape(request);
    shapes.push_back(std::move(*shape));
  }
  return "";
}

std::vector<std::string> ingot::tools::filesRead(const InputSpecs &specs) {
  std::vector<std::string> files;
  // Names of inputs and of files may contain `=`.
  for (const std::string &spec : specs.inputs) {
    files.push_back(spec);
    for (size_t i = 0; i < spec.size(); ++i)
      if (spec[i] == '=')
        files.push_back(spec.substr(i + 1));
  }
  return files;
}

std::string ingot::tools::makeInputs(const ingot_model *model,
                                     const InputSpecs &specs,
                                     std::vector<Array> &arrays) {
  std::vector<Request> requests = makeRequests(model, specs);
  std::string problem = readInputSpecs(requests, specs);
  if (problem.empty())
    problem = readShapeSpecs(requests, specs);
  if (!problem.empty())
    return problem;
  if (specs.preprocess.isGiven &&
      std::none_of(requests.begin(), requests.end(),
                   [](const Request &one) { return isPicture(one.source); }))
    return "--preprocess is for pictures, but no input is a picture: leave it "
           "out";
  arrays.resize(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Request &request = requests[i];
    if (request.source.empty() && specs.isRandomByDefault)
      request.source = "random";
    if (request.source.empty())
      return request.describe() + " is not given; add --input " +
             request.info.name + "=FILE or --input random";
    problem = readSource(request, arrays[i]);
    if (!problem.empty())
      return problem;
  }
  return "";
}
