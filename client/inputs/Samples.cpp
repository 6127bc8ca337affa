//===- Samples.cpp - what a model is calibrated with ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Samples.h"

#include "base/InputFile.h"
#include "client/Text.h"
#include "client/inputs/Npz.h"

#include <algorithm>
#include <filesystem>
#include <string.h>

using namespace ingot;
using namespace ingot::tools;

namespace fs = std::filesystem;

/// An array in a file, which is read sample by sample.
namespace {
struct Stream {
  NpyRead read;
  NpyOrder order;
  /// The type and the shape of one sample.
  Array sample;
  /// The data of an array with only one sample, which all runs use. Otherwise
  /// not set.
  std::optional<Array> kept;
  uint64_t count = 0;
};
} // namespace

struct Samples::Source {
  InputFile npy;
  ZipFile npz;
  std::vector<std::unique_ptr<ZipReader>> readers;
  /// The streams of the inputs; empty for an image.
  std::vector<Stream> streams;
};

Samples::Samples(Preprocess preprocess) : preprocess(std::move(preprocess)) {}

Samples::~Samples() = default;

static std::string inQuotes(const std::string &text) {
  return "'" + formatLine(text, 200) + "'";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

bool ingot::tools::readsLabels(const std::vector<InputSpec> &inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const InputSpec &input) {
    return isLabels(input.name);
  });
}

bool ingot::tools::isSampleFile(const std::string &path) {
  return endsWith(path, ".npy") || endsWith(path, ".npz") || isPicture(path);
}

std::string Samples::listFolder(const std::string &path) {
  std::error_code error;
  fs::directory_iterator at(path, error), end;
  std::vector<std::string> found;
  for (; !error && at != end; at.increment(error))
    if (isSampleFile(at->path().string()))
      found.push_back(at->path().string());
  if (error)
    return "cannot read " + inQuotes(path) + ": " + error.message();
  if (found.empty())
    return inQuotes(path) + " holds no .npz, .npy, .png, .jpg, .bmp, .ppm or "
                            ".pgm files";
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
  return "";
}

std::string Samples::open(const std::vector<std::string> &paths) {
  for (const std::string &path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      if (std::string problem = listFolder(path); !problem.empty())
        return problem;
    } else if (!fs::exists(path, error)) {
      return "cannot read " + inQuotes(path) + ": " +
             (error ? error.message() : strerror(ENOENT));
    } else if (!isSampleFile(path)) {
      return inQuotes(path) + " is no .npz or .npy file, picture or folder";
    } else {
      files.push_back(path);
    }
  }
  return "";
}

bool Samples::hasPictures() const {
  return std::any_of(files.begin(), files.end(), isPicture);
}

std::string
ingot::tools::checkPreprocess(const Preprocess &given,
                              const std::vector<std::string> &paths) {
  Samples samples;
  if (!given.isGiven || !samples.open(paths).empty() || samples.hasPictures())
    return "";
  return "--preprocess is for pictures, but no sample is a picture: leave it "
         "out";
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Returns true if the sizes from dimension `first` on match those of an input.
static bool fits(const std::vector<int64_t> &dims, size_t first,
                 const InputSpec &input, size_t inputFirst) {
  if (dims.size() - first != input.dims.size() - inputFirst)
    return false;
  for (size_t i = 0; i + first < dims.size(); ++i)
    if (input.dims[i + inputFirst] >= 0 &&
        input.dims[i + inputFirst] != dims[i + first])
      return false;
  return true;
}

/// Finds the number of samples in an array, and the shape of one sample.
static std::string cutSamples(const InputSpec &input, Stream &stream) {
  std::vector<int64_t> &dims = stream.sample.dims;
  const size_t rank = input.dims.size();
  if (stream.sample.dtype != input.dtype)
    return std::string("is ") + ingot_dtype_name(stream.sample.dtype) +
           ", but input " + inQuotes(input.name) + " is " +
           ingot_dtype_name(input.dtype);
  auto wrongShape = [&] {
    return "is " + formatShape(dims.data(), dims.size()) + ", but input " +
           inQuotes(input.name) + " is " +
           formatShape(input.dims.data(), rank) +
           ": samples are stacked in the first dimension";
  };
  // Without a batch dimension in the input, the array may have one more
  // dimension.
  if (dims.size() == rank + 1 && fits(dims, 1, input, 0)) {
    stream.count = uint64_t(dims[0]);
    dims.erase(dims.begin());
  } else if (dims.size() != rank || (rank && !fits(dims, 1, input, 1))) {
    return wrongShape();
  } else if (rank == 0) {
    stream.count = 1;
  } else {
    const int64_t batch = input.dims[0] < 0 ? 1 : input.dims[0];
    if (batch == 0 || dims[0] % batch)
      return "has " + std::to_string(dims[0]) + " samples, but input " +
             inQuotes(input.name) + " takes " + std::to_string(batch) +
             " at a time: give a multiple of that";
    stream.count = uint64_t(dims[0] / batch);
    dims[0] = batch;
  }
  return stream.count ? "" : "has no samples";
}

std::string Samples::addStream(size_t input, const std::string &what,
                               NpyRead read, uint64_t size) {
  Stream stream;
  stream.sample.dtype = inputs[input].dtype;
  std::string problem = readNpyHeader(read, size, stream.sample, stream.order);
  if (problem.empty() && stream.order.isFortran)
    problem = "is in Fortran's order: save numpy.ascontiguousarray(x) instead";
  if (problem.empty())
    problem = cutSamples(inputs[input], stream);
  if (!problem.empty())
    return what + ": " + problem;
  stream.read = std::move(read);
  source->streams[input] = std::move(stream);
  return "";
}

std::string Samples::openNpy(const std::string &path) {
  if (inputs.size() != 1)
    return inQuotes(path) + ": it holds one array, but the model has " +
           std::to_string(inputs.size()) +
           " inputs: give an .npz file with their names";
  std::string problem = source->npy.open(path);
  if (!problem.empty())
    return "cannot read " + inQuotes(path) + ": " + problem;
  InputFile &file = source->npy;
  return addStream(
      0, inQuotes(path),
      [&file](void *data, uint64_t bytes) { return file.read(data, bytes); },
      file.size());
}

std::string Samples::openNpz(const std::string &path) {
  std::string problem = source->npz.open(path);
  if (!problem.empty())
    return "cannot read " + inQuotes(path) + ": " + problem;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ZipMember *member =
        findArray(source->npz, inputs[i].name, inputs.size() == 1);
    if (!member)
      return inQuotes(path) + ": it has no array for input " +
             inQuotes(inputs[i].name) + ": " + listArrays(source->npz);
    source->readers.push_back(
        std::make_unique<ZipReader>(source->npz, *member));
    ZipReader &reader = *source->readers.back();
    const std::string what =
        inQuotes(path) + ", array " + inQuotes(arrayName(*member));
    problem = reader.open();
    if (!problem.empty())
      return what + ": " + problem;
    problem = addStream(
        i, what,
        [&reader](void *data, uint64_t bytes) {
          return reader.read(data, bytes);
        },
        member->size);
    if (!problem.empty())
      return problem;
  }
  return "";
}

std::string Samples::countSamples() {
  // An array with a single sample, such as a scalar input, is used for all
  // samples of the other arrays.
  numInFile = 1;
  for (const Stream &stream : source->streams)
    numInFile = std::max(numInFile, stream.count);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Stream &stream = source->streams[i];
    if (stream.count == numInFile)
      continue;
    if (stream.count == 1 && inputs[i].dims.empty()) {
      stream.kept.emplace();
      continue;
    }
    return inQuotes(current) + ": input " + inQuotes(inputs[i].name) + " has " +
           std::to_string(stream.count) + " samples, but another has " +
           std::to_string(numInFile);
  }
  return "";
}

std::string Samples::openFile() {
  current = files[fileNumber];
  inFile = 0;
  source = std::make_unique<Source>();
  if (isPicture(current)) {
    numInFile = 1;
    if (inputs.size() != 1)
      return inQuotes(current) + ": it is a picture, but the model has " +
             std::to_string(inputs.size()) +
             " inputs: give an .npz file with their names";
    return "";
  }
  source->streams.resize(inputs.size());
  std::string problem =
      endsWith(current, ".npz") ? openNpz(current) : openNpy(current);
  return problem.empty() ? countSamples() : problem;
}

static std::string readOne(Stream &stream, Array &array) {
  const std::vector<int64_t> dims = stream.sample.dims;
  array.dtype = stream.sample.dtype;
  array.dims = dims;
  uint64_t bytes = 0;
  if (!denseBytes(dims, array.dtype, bytes))
    return "its shape is impossibly large";
  if (stream.kept && !stream.kept->data.empty()) {
    array = *stream.kept;
    return "";
  }
  // In the file, each element has at least one byte.
  if (stream.order.isLoose && !denseBytes(dims, INGOT_UINT8, bytes))
    return "its shape is impossibly large";
  // For strings, `bytes` is the size of the offsets. There is one more offset
  // than elements.
  if (stream.order.charBytes &&
      __builtin_mul_overflow(bytes / sizeof(int64_t) - 1,
                             stream.order.elementBytes(array.dtype), &bytes))
    return "its shape is impossibly large";
  array.data.resize(bytes);
  std::string problem = stream.read(array.data.data(), bytes);
  if (!problem.empty())
    return problem;
  problem = reorder(stream.order, array);
  if (!problem.empty())
    return problem;
  if (stream.kept)
    stream.kept = array;
  return "";
}

std::string Samples::readPicture(const std::string &path,
                                 std::vector<Array> &arrays) {
  std::string problem = tools::readPicture(path, preprocess, inputs[0].dtype,
                                           inputs[0].dims, arrays[0]);
  return problem.empty() ? "" : inQuotes(path) + ": " + problem;
}

/// Moves to the next sample.
bool Samples::step(std::string &problem) {
  if (source && inFile == numInFile) {
    source.reset();
    ++fileNumber;
  }
  if (!source) {
    if (fileNumber == files.size())
      return false;
    problem = openFile();
    if (!problem.empty())
      return false;
  }
  ++inFile;
  ++read;
  return true;
}

/// Counts the samples behind the current one whose values are not finite. Reads
/// the file from the input after `input`, as far as it can be read.
uint64_t Samples::countNotFinite(size_t input, std::vector<Array> &arrays) {
  uint64_t count = 0;
  for (size_t first = input + 1; inFile <= numInFile; ++inFile, first = 0) {
    bool isFinite = true;
    for (size_t i = first; i < inputs.size(); ++i) {
      if (!readOne(source->streams[i], arrays[i]).empty())
        return count;
      isFinite &= allFinite(arrays[i]);
    }
    // The rest of the current sample does not matter.
    count += first == 0 && !isFinite;
  }
  return count;
}

std::string ingot::tools::adviceToLeaveOut(uint64_t others) {
  if (others == 0)
    return ": leave it out";
  return ", and " + std::to_string(others) +
         (others > 1 ? " others are alike" : " other is alike") +
         ": leave them out";
}

std::string Samples::readArrays(std::vector<Array> &arrays) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string problem = readOne(source->streams[i], arrays[i]);
    if (!problem.empty())
      return inQuotes(current) + ": input " + inQuotes(inputs[i].name) + ": " +
             problem;
    if (!allFinite(arrays[i])) {
      const std::string where = "sample " + std::to_string(inFile) + " of " +
                                std::to_string(numInFile);
      return inQuotes(current) + ": input " + inQuotes(inputs[i].name) +
             " is infinite or not a number in " + where +
             adviceToLeaveOut(countNotFinite(i, arrays));
    }
  }
  return "";
}

bool Samples::next(std::vector<Array> &arrays, std::string &problem) {
  problem.clear();
  arrays.resize(inputs.size());
  for (;;) {
    if ((wanted && numTaken == wanted->size()) || !step(problem))
      return false;
    const bool isWanted = !wanted || (*wanted)[numTaken].number == read - 1;
    // Arrays must be read in order, but images can be skipped.
    if (!source->streams.empty())
      problem = readArrays(arrays);
    else if (isWanted)
      problem = readPicture(current, arrays);
    if (!problem.empty())
      return false;
    if (!isWanted)
      continue;
    ++numTaken;
    return true;
  }
}

std::string Samples::where() const {
  return "sample " + std::to_string(inFile) + " of " + inQuotes(current);
}

std::string Samples::progress() const {
  if (files.size() == 1)
    return where() + ", which has " + std::to_string(numInFile);
  return "sample " + std::to_string(read) + ", file " +
         std::to_string(fileNumber + 1) + " of " + std::to_string(files.size());
}

double Samples::fraction() const {
  if (wanted)
    return wanted->empty() ? 0 : double(numTaken - 1) / double(wanted->size());
  const double before = double(inFile - 1) / double(numInFile);
  return (double(fileNumber) + before) / double(files.size());
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Returns true if no element has all bits of `exponent` set. Such an element
/// would be infinite or NaN.
template <typename T>
static bool noneHasAll(const Array &array, T exponent) {
  for (size_t at = 0; at + sizeof(T) <= array.data.size(); at += sizeof(T)) {
    T bits;
    memcpy(&bits, &array.data[at], sizeof(T));
    if ((bits & exponent) == exponent)
      return false;
  }
  return true;
}

bool ingot::tools::allFinite(const Array &array) {
  switch (array.dtype) {
  case INGOT_FLOAT:
    return noneHasAll<uint32_t>(array, 0x7f800000);
  case INGOT_DOUBLE:
    return noneHasAll<uint64_t>(array, 0x7ff0000000000000);
  case INGOT_FLOAT16:
    return noneHasAll<uint16_t>(array, 0x7c00);
  case INGOT_BFLOAT16:
    return noneHasAll<uint16_t>(array, 0x7f80);
  default:
    return true;
  }
}
