//===- Sources.cpp - arrays out of files and numbers ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Request.h"

#include "base/InputFile.h"
#include "client/Text.h"
#include "client/Values.h"
#include "client/inputs/Npz.h"

#include <string.h>

using namespace ingot;
using namespace ingot::tools;

static std::string cannotRead(const Request &request,
                              const std::string &reason) {
  return "cannot read '" + request.source + "' for input '" +
         formatLine(request.info.name, 120) + "': " + reason;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Allocates the array of an input whose values do not come from a file.
static std::string makeRoom(const Request &request, Array &array) {
  array.dtype = request.info.dtype;
  auto shape = request.knownShape();
  if (!shape)
    return askForShape(request);
  array.dims = *shape;
  std::string problem = checkFixedSizes(request, array.dims, "--shape");
  if (!problem.empty())
    return problem;
  uint64_t bytes;
  constexpr uint64_t most = uint64_t(1) << 40;
  if (!denseBytes(array.dims, array.dtype, bytes) || bytes > most)
    return request.describe() + " of shape " +
           formatShape(array.dims.data(), array.dims.size()) +
           " does not fit into memory";
  array.data.resize(bytes);
  return "";
}

static std::string makeRandom(const Request &request, uint64_t seed,
                              Array &array) {
  if (request.info.dtype == INGOT_STRING)
    return request.describe() +
           " cannot be random: strings have to be those that the model knows; "
           "add --input " +
           request.info.name + "=FILE.npy or " + request.info.name +
           "=FILE.txt";
  std::string problem = makeRoom(request, array);
  if (problem.empty())
    fillRandom(array, seed);
  return problem;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Returns true if a file can be read and does not begin as .npy files do.
static bool isRaw(const std::string &path) {
  InputFile file;
  char magic[6] = {};
  return !endsWith(path, ".npy") && file.open(path).empty() &&
         (!file.read(magic, sizeof(magic)).empty() ||
          memcmp(magic, "\x93NUMPY", sizeof(magic)));
}

/// Reads a file that contains nothing but elements. The shape must be known.
static std::string readRaw(const Request &request, Array &array) {
  const std::string kind = "it is no picture, .npy or .npz file, ";
  auto shape = request.knownShape();
  if (!shape)
    return cannotRead(request, kind +
                                   "and the shape of its elements is not "
                                   "known: " +
                                   askForShape(request));
  array.dtype = request.info.dtype;
  array.dims = *shape;
  std::string problem = checkFixedSizes(request, array.dims, "--shape");
  if (!problem.empty())
    return problem;
  InputFile file;
  uint64_t bytes;
  problem = file.open(request.source);
  if (!problem.empty())
    return cannotRead(request, problem);
  if (!denseBytes(array.dims, array.dtype, bytes) || bytes != file.size())
    return cannotRead(
        request, kind + "and has " + std::to_string(file.size()) +
                     " bytes, not those of " + ingot_dtype_name(array.dtype) +
                     " " + formatShape(array.dims.data(), array.dims.size()));
  array.data.resize(bytes);
  problem = file.read(array.data.data(), bytes);
  return problem.empty() ? "" : cannotRead(request, problem);
}

/// Finds a shape with `count` elements from the given sizes. At most one of the
/// sizes may be unknown.
static std::string shapeOfCount(const Request &request, uint64_t count,
                                std::vector<int64_t> &dims) {
  dims = request.givenSizes();
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

/// Reads one string per line. Lines may end in "\r\n", and the file may begin
/// with a byte order mark.
static std::string readLines(const Request &request, Array &array) {
  std::string text;
  std::string problem = readWholeFile(request.source, uint64_t(1) << 32, text);
  if (!problem.empty())
    return cannotRead(request, problem);
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
  return problem.empty() ? checkFixedSizes(request, array.dims, "--shape")
                         : problem;
}

/// Checks the type and the shape of a file's array.
static std::string checkFits(const Request &request, const Array &array) {
  std::string origin = "'" + request.source + "'";
  if (array.dtype != request.info.dtype)
    return request.describe() + " cannot take " +
           ingot_dtype_name(array.dtype) + " from " + origin +
           "; convert it with numpy's astype";
  if (request.shape && *request.shape != array.dims)
    return request.describe() + ": --shape contradicts " + origin +
           ", whose shape is " +
           formatShape(array.dims.data(), array.dims.size());
  return checkFixedSizes(request, array.dims, origin);
}

/// Reads an array from a file that states type and shape. `read` is readNpy or
/// readNpzArray.
template <typename Read>
static std::string readArray(const Request &request, Array &array, Read read) {
  // The check stops the reading before the data if type or shape is wrong.
  std::string misfit;
  array.dtype = request.info.dtype;
  std::string problem = read(array, [&](const Array &header) {
    misfit = checkFits(request, header);
    return misfit;
  });
  if (problem.empty() || !misfit.empty())
    return misfit;
  return cannotRead(request, problem);
}

static std::string readNpz(const Request &request, Array &array) {
  ZipFile file;
  std::string problem = file.open(request.source);
  if (!problem.empty())
    return cannotRead(request, problem);
  const ZipMember *member =
      findArray(file, request.info.name, /*isOnlyInput=*/true);
  if (!member)
    return cannotRead(request, "no array has this name: " + listArrays(file));
  return readArray(request, array, [&](Array &to, const NpyCheck &check) {
    return readNpzArray(file, *member, to, check);
  });
}

static std::string readPicture(const Request &request, Array &array) {
  std::string problem = tools::readPicture(
      request.source, preprocessOf(request.model, request.specs->preprocess),
      request.info.dtype, request.givenSizes(), array);
  return problem.empty() ? "" : cannotRead(request, problem);
}

static std::string readFile(const Request &request, Array &array) {
  const std::string &path = request.source;
  if (request.info.dtype == INGOT_STRING && endsWith(path, ".txt"))
    return readLines(request, array);
  if (isPicture(path))
    return readPicture(request, array);
  if (endsWith(path, ".npz"))
    return readNpz(request, array);
  if (isRaw(path))
    return readRaw(request, array);
  return readArray(request, array, [&](Array &to, const NpyCheck &check) {
    return readNpy(path, to, check);
  });
}

std::string ingot::tools::readSource(const Request &request, Array &array) {
  uint64_t seed;
  if (request.source == "zeros")
    return makeRoom(request, array);
  // Use another seed for each input, because equal inputs may hide mistakes.
  if (parseRandom(request.source, seed))
    return makeRandom(request, seed + request.number, array);
  return readFile(request, array);
}
