//===- Samples.h - what a model is calibrated with --------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_SAMPLES_H
#define INGOT_CLIENT_INPUTS_SAMPLES_H

#include "client/Npy.h"
#include "client/inputs/Pictures.h"
#include "client/inputs/SampleSurvey.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ingot::tools {

/// The type and the shape of an input.
struct InputSpec {
  std::string name;
  ingot_dtype dtype = 0;
  /// The sizes; -1 allows any size.
  std::vector<int64_t> dims;
};

/// Returns true if a model reads the array of right results as an input.
bool readsLabels(const std::vector<InputSpec> &inputs);

/// Returns true if a file in a folder of samples has the name of a sample file.
bool isSampleFile(const std::string &path);

/// Returns the end of a message about a broken sample, for the number of others
/// that are broken alike.
std::string adviceToLeaveOut(uint64_t others);

/// Reads the inputs for one run after the other from .npz files, .npy files and
/// images. Keeps only one sample of an array in memory.
class Samples {
public:
  explicit Samples(Preprocess preprocess = {});
  ~Samples();

  /// Opens files, or folders of files in the order of their names. Returns an
  /// error message, or "".
  std::string open(const std::vector<std::string> &paths);

  /// Returns true if one of the files is a picture.
  bool hasPictures() const;

  /// Sets the inputs that samples are read for. Must be called before the first
  /// sample.
  void setInputs(std::vector<InputSpec> specs) { inputs = std::move(specs); }

  /// Sets the preprocessing. Must be called before the first sample.
  void setPreprocess(const Preprocess &how) { preprocess = how; }

  /// Restricts reading to these samples, in ascending order.
  void choose(std::vector<PickedSample> picked) { wanted = std::move(picked); }

  /// Reads the next sample into `arrays`, one array per input. Returns false at
  /// the end, or on an error with its message in `problem`.
  bool next(std::vector<Array> &arrays, std::string &problem);

  /// Returns the number of samples that the last sample represents.
  double weight() const { return wanted ? (*wanted)[numTaken - 1].weight : 1; }
  /// Returns the source of the last sample: "sample 3 of 'data.npz'".
  std::string where() const;
  uint64_t count() const { return read; }
  /// Returns a text about how much of the files has been read.
  std::string progress() const;
  /// Returns the share of the samples before the last sample, from 0 to 1. All
  /// files have equal weight.
  double fraction() const;

private:
  struct Source;
  std::string openFile();
  std::string openNpy(const std::string &path);
  std::string openNpz(const std::string &path);
  bool step(std::string &problem);
  std::string readArrays(std::vector<Array> &arrays);
  uint64_t countNotFinite(size_t input, std::vector<Array> &arrays);
  std::string readPicture(const std::string &path, std::vector<Array> &arrays);
  std::string addStream(size_t input, const std::string &what, NpyRead read,
                        uint64_t size);
  std::string countSamples();
  std::string listFolder(const std::string &path);

  std::vector<InputSpec> inputs;
  Preprocess preprocess;
  std::vector<std::string> files;
  size_t fileNumber = 0;
  uint64_t read = 0;
  /// The samples to read. If not set, all samples are read.
  std::optional<std::vector<PickedSample>> wanted;
  size_t numTaken = 0;
  /// The state of the open file.
  std::unique_ptr<Source> source;
  uint64_t inFile = 0, numInFile = 0;
  std::string current;
};

/// Returns a message if --preprocess was given and none of the samples is a
/// picture, or "". Paths that cannot be opened are reported later.
std::string checkPreprocess(const Preprocess &given,
                            const std::vector<std::string> &paths);

/// Returns true if all float elements are finite.
bool allFinite(const Array &array);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_SAMPLES_H
