//===- Inputs.cpp - what --input and --shape ask for --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Inputs.h"

#include "base/InputFile.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/ShapeProfiles.h"
#include "tools/ingot/Text.h"
#include "tools/ingot/Values.h"

#include <optional>
#include <string.h>

using namespace ingot;
using namespace ingot::tools;

namespace {
/// What one input of the model was asked to be.
struct Request {
  const InputSpecs *specs = nullptr;
  const ingot_model *model = nullptr;
  uint32_t number = 0;
  ingot_tensor_info info = INGOT_TENSOR_INFO_INIT;
  std::string source; ///< empty if not given
  std::optional<std::vector<int64_t>> shape;

  std::string describe() const {
    return "input '" + formatLine(info.name, 120) + "' (" +
           ingot_dtype_name(info.dtype) + " " +
           formatShape(info.dims, info.rank, info.dim_names) + ")";
  }
};
} // namespace

/// Splits `spec` at a separator behind the name of an input; names may contain
/// separators themselves, so the longest one wins. Null if none fits.
static Request *matchName(std::vector<Request> &requests,
                          const std::string &spec, const char *separators,
                          std::string &rest) {
  Request *found = nullptr;
  size_t length = 0;
  for (Request &request : requests) {
    std::string name = request.info.name;
    if (name.size() < length || spec.size() <= name.size() ||
        spec.compare(0, name.size(), name) != 0 ||
        std::string(separators).find(spec[name.size()]) == std::string::npos)
      continue;
    found = &request;
    length = name.size();
    rest = spec.substr(length + 1);
  }
  return found;
}

static bool parseRandom(const std::string &source, uint64_t &seed) {
  seed = 0;
  if (source == "random")
    return true;
  long long value;
  if (source.rfind("random:", 0) != 0 || !parseNumber(source.substr(7), value))
    return false;
  seed = uint64_t(value);
  return true;
}

static std::string listNames(const std::vector<Request> &requests) {
  std::string names;
  for (const Request &request : requests)
    names += (names.empty() ? "'" : ", '") + formatLine(request.info.name, 80) +
             "'";
  return names.empty() ? "none" : names;
}

static const char *inputSeparators(const InputSpecs &specs) {
  return specs.likeTrtexec ? "=:" : "=";
}

static std::string readInputSpec(std::vector<Request> &requests,
                                 const InputSpecs &specs,
                                 const std::string &spec) {
  const std::string &option = specs.inputOption;
  std::string source;
  uint64_t seed;
  if (Request *request =
          matchName(requests, spec, inputSeparators(specs), source)) {
    if (!request->source.empty())
      return request->describe() + " is given twice";
    if (source.empty())
      return option + " " + spec + " names no file; give NAME=FILE.npy or "
             "NAME=random[:SEED]";
    request->source = source;
    return "";
  }
  if (parseRandom(spec, seed)) {
    for (Request &request : requests)
      if (request.source.empty())
        request.source = spec;
    return "";
  }
  if (spec.rfind("random:", 0) == 0)
    return option + " " + spec + ": the seed must be a whole number";
  size_t equals = spec.find_first_of(inputSeparators(specs));
  if (equals != std::string::npos)
    return "the model has no input '" + spec.substr(0, equals) +
           "'; its inputs are " + listNames(requests);
  if (requests.size() != 1)
    return option + " " + spec +
           " must say which input it is for, NAME=" + spec +
           "; the model's inputs are " + listNames(requests);
  if (!requests[0].source.empty())
    return requests[0].describe() + " is given twice";
  requests[0].source = spec;
  return "";
}

/// Parses "1x3x48x320".
static bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('x', at), text.size());
    long long size;
    if (!parseNumber(text.substr(at, end - at), size) || size < 0)
      return false;
    shape.push_back(size);
    at = end + 1;
  }
  return true;
}

static std::string readShapeSpec(std::vector<Request> &requests,
                                 const InputSpecs &specs,
                                 const std::string &spec) {
  const std::string &option = specs.shapeOption;
  std::string text;
  Request *request = matchName(requests, spec, "=:", text);
  if (!request)
    return option + " " + spec +
           " names no input of the model; give NAME=AxB..., where NAME is one "
           "of " +
           listNames(requests);
  std::vector<int64_t> shape;
  if (text != "scalar" && !parseShape(text, shape))
    return option + " " + spec + ": '" + text +
           "' is no shape; write sizes with x between them, e.g. 1x3x48x320";
  if (request->shape)
    return option + " for input '" + formatLine(request->info.name, 120) +
           "' is given twice";
  request->shape = shape;
  return "";
}

static std::string checkFixedSizes(const Request &request,
                                   const std::vector<int64_t> &shape,
                                   const std::string &origin) {
  bool fits = shape.size() == request.info.rank;
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = request.info.dims[i] == INGOT_ABI_DYNAMIC ||
           request.info.dims[i] == shape[i];
  if (fits)
    return "";
  return request.describe() + " cannot have the shape " +
         formatShape(shape.data(), shape.size()) + " of " + origin;
}

/// What the user gave, or else what the model was compiled for.
static std::optional<std::vector<int64_t>> shapeOf(const Request &request) {
  return request.shape ? request.shape
                       : usualShape(request.model, request.number);
}

static std::string askForShape(const Request &request) {
  std::string example = request.info.name;
  example += "=";
  for (uint32_t i = 0; i < request.info.rank; ++i)
    example += (i ? "x" : "") + std::to_string(request.info.dims[i] < 0
                                                   ? 1
                                                   : request.info.dims[i]);
  return request.describe() + " has sizes that only you know; add " +
         request.specs->shapeOption + " " + example;
}

static std::string makeRandom(const Request &request, uint64_t seed,
                              Array &array) {
  array.dtype = request.info.dtype;
  if (array.dtype == INGOT_STRING)
    return request.describe() + " cannot be random: strings have to be those " +
           "that the model knows; add " + request.specs->inputOption + " " +
           request.info.name + "=FILE.npy or " + request.info.name +
           "=FILE.txt";
  if (auto shape = shapeOf(request)) {
    array.dims = *shape;
    std::string problem =
        checkFixedSizes(request, array.dims, request.specs->shapeOption);
    if (!problem.empty())
      return problem;
  } else {
    return askForShape(request);
  }
  uint64_t bytes;
  constexpr uint64_t most = uint64_t(1) << 40;
  if (!denseBytes(array.dims, array.dtype, bytes) ||
      bytes > most)
    return request.describe() + " of shape " +
           formatShape(array.dims.data(), array.dims.size()) +
           " does not fit into memory";
  array.data.resize(bytes);
  fillRandom(array, seed);
  return "";
}

/// Whether it can be read and does not start like an .npy file.
static bool isRaw(const std::string &path) {
  InputFile file;
  char magic[6] = {};
  return file.open(path).empty() &&
         (!file.read(magic, sizeof(magic)).empty() ||
          memcmp(magic, "\x93NUMPY", sizeof(magic)));
}

/// Reads elements alone; their shape is known from elsewhere.
static std::string readRaw(const Request &request, Array &array) {
  auto shape = shapeOf(request);
  if (!shape)
    return askForShape(request);
  array.dtype = request.info.dtype;
  array.dims = *shape;
  std::string problem =
      checkFixedSizes(request, array.dims, request.specs->shapeOption);
  if (!problem.empty())
    return problem;
  InputFile file;
  uint64_t bytes;
  auto cannotRead = [&](const std::string &reason) {
    return "cannot read '" + request.source + "' for input '" +
           formatLine(request.info.name, 120) + "': " + reason;
  };
  problem = file.open(request.source);
  if (!problem.empty())
    return cannotRead(problem);
  if (!denseBytes(array.dims, array.dtype, bytes) ||
      bytes != file.size())
    return cannotRead("it is no .npy file and has " +
                      std::to_string(file.size()) +
                      " bytes, not those of " + ingot_dtype_name(array.dtype) +
                      " " + formatShape(array.dims.data(), array.dims.size()));
  array.data.resize(bytes);
  problem = file.read(array.data.data(), bytes);
  return problem.empty() ? "" : cannotRead(problem);
}

/// Sizes that hold so many elements: what the user gave, or else those of the
/// model, of which one may be open.
static std::string shapeOfCount(const Request &request, uint64_t count,
                                std::vector<int64_t> &dims) {
  const int64_t *sizes = request.info.dims;
  dims = request.shape.value_or(
      std::vector<int64_t>(sizes, sizes + request.info.rank));
  uint64_t known = 1, open = 0;
  for (int64_t size : dims) {
    open += size == INGOT_ABI_DYNAMIC;
    known *= size == INGOT_ABI_DYNAMIC ? 1 : uint64_t(size);
  }
  if (open > 1)
    return askForShape(request);
  for (int64_t &size : dims)
    if (size == INGOT_ABI_DYNAMIC && known)
      size = int64_t(count / known);
  known = 1;
  for (int64_t size : dims)
    known *= uint64_t(size);
  return known == count
             ? ""
             : request.describe() + " cannot have the " +
                   std::to_string(count) + " lines of '" + request.source + "'";
}

/// Reads a string a line, which may end in "\r\n", as on Windows; so may the
/// file begin with a byte order mark.
static std::string readLines(const Request &request, Array &array) {
  std::string text;
  std::string problem =
      readWholeFile(request.source, uint64_t(1) << 32, text);
  if (!problem.empty())
    return "cannot read '" + request.source + "' for input '" +
           formatLine(request.info.name, 120) + "': " + problem;
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  array.dtype = INGOT_STRING;
  array.data.assign(sizeof(int64_t), 0);
  uint64_t count = 0;
  static constexpr std::string_view mark = "\xef\xbb\xbf";
  for (size_t at = text.compare(0, mark.size(), mark) ? 0 : mark.size();
       at < text.size(); ++count) {
    size_t end = text.find('\n', at);
    size_t last = end > at && text[end - 1] == '\r' ? end - 1 : end;
    appendString(array, std::string_view(text).substr(at, last - at));
    at = end + 1;
  }
  problem = shapeOfCount(request, count, array.dims);
  return problem.empty() ? checkFixedSizes(request, array.dims,
                                           request.specs->shapeOption)
                         : problem;
}

/// Type and shape of a file for an input.
static std::string checkFits(const Request &request, const Array &array) {
  std::string origin = "'" + request.source + "'";
  if (array.dtype != request.info.dtype)
    return request.describe() + " cannot take " +
           ingot_dtype_name(array.dtype) + " from " + origin +
           "; convert it with numpy's astype";
  if (request.shape && *request.shape != array.dims)
    return request.describe() + ": " + request.specs->shapeOption +
           " contradicts " + origin +
           ", whose shape is " +
           formatShape(array.dims.data(), array.dims.size());
  return checkFixedSizes(request, array.dims, origin);
}

static std::string readFile(const Request &request, Array &array) {
  const std::string &path = request.source, ending = ".txt";
  if (request.info.dtype == INGOT_STRING && path.size() > ending.size() &&
      path.compare(path.size() - ending.size(), ending.size(), ending) == 0)
    return readLines(request, array);
  if (request.specs->likeTrtexec && isRaw(request.source))
    return readRaw(request, array);
  // What does not fit is not read.
  std::string misfit;
  array.dtype = request.info.dtype;
  std::string problem =
      readNpy(request.source, array, [&](const Array &header) {
        misfit = checkFits(request, header);
        return misfit;
      });
  if (problem.empty() || !misfit.empty())
    return misfit;
  return "cannot read '" + request.source + "' for input '" +
         formatLine(request.info.name, 120) + "': " + problem;
}

/// One for each input, of which nothing is asked yet.
static std::vector<Request> makeRequests(const ingot_model *model,
                                         const InputSpecs &specs) {
  ingot_model_info info = INGOT_MODEL_INFO_INIT;
  ingot_model_describe(model, &info, nullptr);
  std::vector<Request> requests(info.num_inputs);
  for (uint32_t i = 0; i < info.num_inputs; ++i) {
    requests[i].specs = &specs;
    requests[i].model = model;
    requests[i].number = i;
    ingot_model_input_describe(model, i, &requests[i].info, nullptr);
  }
  return requests;
}

static std::string readShapeSpecs(std::vector<Request> &requests,
                                  const InputSpecs &specs) {
  for (const std::string &spec : specs.shapes) {
    std::string problem = readShapeSpec(requests, specs, spec);
    if (!problem.empty())
      return problem;
  }
  return "";
}

std::string
ingot::tools::makeShapes(const ingot_model *model, const InputSpecs &specs,
                         std::vector<std::vector<int64_t>> &shapes) {
  std::vector<Request> requests = makeRequests(model, specs);
  std::string problem = readShapeSpecs(requests, specs);
  for (const Request &request : requests) {
    if (!problem.empty())
      break;
    auto shape = shapeOf(request);
    if (!shape)
      return askForShape(request);
    problem = checkFixedSizes(request, *shape, specs.shapeOption);
    shapes.push_back(std::move(*shape));
  }
  return problem;
}

std::string ingot::tools::makeInputs(const ingot_model *model,
                                     const InputSpecs &specs,
                                     std::vector<Array> &arrays) {
  std::vector<Request> requests = makeRequests(model, specs);
  // Inputs that are named come first, so that `random` takes the others.
  for (bool named : {true, false})
    for (const std::string &spec : specs.inputs) {
      std::string rest;
      bool isNamed =
          matchName(requests, spec, inputSeparators(specs), rest) != nullptr;
      if (isNamed != named)
        continue;
      std::string problem = readInputSpec(requests, specs, spec);
      if (!problem.empty())
        return problem;
    }
  std::string misfit = readShapeSpecs(requests, specs);
  if (!misfit.empty())
    return misfit;

  arrays.resize(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Request &request = requests[i];
    if (request.source.empty() && specs.likeTrtexec)
      request.source = "random";
    std::string problem;
    uint64_t seed;
    if (request.source.empty())
      problem = request.describe() + " is not given; add " +
                specs.inputOption + " " + request.info.name + "=FILE.npy or " +
                specs.inputOption + " random";
    else if (parseRandom(request.source, seed))
      // Equal inputs would hide mistakes, so each gets a seed of its own.
      problem = makeRandom(request, seed + i, arrays[i]);
    else
      problem = readFile(request, arrays[i]);
    if (!problem.empty())
      return problem;
  }
  return "";
}
